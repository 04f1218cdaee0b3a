// Tokens to their experts and back: rows that numbers name are read, each piece of a result row is written by one
// thread.
#include "passes/Codegen/CUDA/SpecialEmitters.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
struct Routes {
  GpuEmit &e;
  int64_t experts, batch, capacity, width, length, top, pieces;
  Type i32;

  /// From the routed tensor [e, b, c, h] and slots [b, s, k].
  Routes(GpuEmit &e, RankedTensorType routed, RankedTensorType slots)
      : e(e), experts(routed.getDimSize(0)), batch(routed.getDimSize(1)), capacity(routed.getDimSize(2)),
        width(routed.getDimSize(3)), length(slots.getDimSize(1)), top(slots.getDimSize(2)), pieces(width / e.lanes()),
        i32(e.getI32Type()) {}

  Value has(Value number) { return e.compare(arith::CmpIPredicate::sge, number, e.i64(0)); }
  Value slotAt(Value slots, Value at) { return e.widen(e.load(i32, slots, at)); }
  /// First element of the row of sequence b's place `slot`; place 0 where there is none.
  Value placeRow(Value b, Value slot) {
    Value place = e.greatest(slot, e.i64(0));
    Value row =
        e.plus(e.times(e.plus(e.times(e.over(place, capacity), batch), b), capacity), e.modulo(place, capacity));
    return e.times(row, width);
  }
  Launch overPieces(int64_t rows, function_ref<void(Value row, Value column)> body) {
    return overThreads(e, rows * pieces,
                       [&](Value index) { body(e.over(index, pieces), e.times(e.modulo(index, pieces), e.lanes())); });
  }
};

int64_t rowLanes(RankedTensorType routed) { return lanesOf({routed.getShape().back()}); }
} // namespace

LogicalResult emitDispatch(func::FuncOp kernel, nn::DispatchOp op, ModuleOp into) {
  StepKernel step(kernel, into, 0);
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, rowLanes(op.getY().getType()));
    Routes routes(e, op.getY().getType(), op.getSlots().getType());
    Value x = frame.buffer(op.getX()), slots = frame.buffer(op.getSlots()), tokens = frame.buffer(op.getTokens());
    Value weights = op.getWeights() ? frame.buffer(op.getWeights()) : Value(), y = frame.result(op.getY());
    return routes.overPieces(routes.experts * routes.batch * routes.capacity, [&](Value row, Value column) {
      Value place = e.modulo(row, routes.capacity), b = e.modulo(e.over(row, routes.capacity), routes.batch);
      Value expert = e.over(row, routes.capacity * routes.batch);
      Value slot = e.plus(e.times(expert, routes.capacity), place);
      Value token = routes.slotAt(tokens, e.plus(e.times(b, routes.experts * routes.capacity), slot));
      Value found = routes.has(token), at = e.plus(e.times(b, routes.length), e.greatest(token, e.i64(0)));
      Value value = e.loadWhole(elementOf(op.getX()), x, e.plus(e.times(at, routes.width), column), found);
      if (weights) { // that of the choice which brought the token here
        Value weight = e.number(1, e.getF32Type()), first = e.times(at, routes.top);
        for (int64_t j = 0; j < routes.top; ++j) {
          Value choice = e.plus(first, j);
          Value is = e.compare(arith::CmpIPredicate::eq, routes.slotAt(slots, choice), slot);
          weight = e.choose(is, e.load(elementOf(op.getWeights()), weights, choice), weight);
        }
        value = arith::SelectOp::create(e, found, e.mul(value, weight), e.number(0, value.getType()));
      }
      e.storeVector(elementOf(op.getY()), value, y, e.plus(e.times(row, routes.width), column), Value());
    });
  });
  step.finish();
  return success();
}

LogicalResult emitCombine(func::FuncOp kernel, nn::CombineOp op, ModuleOp into) {
  StepKernel step(kernel, into, 0);
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, rowLanes(op.getX().getType()));
    Routes routes(e, op.getX().getType(), op.getSlots().getType());
    Value x = frame.buffer(op.getX()), slots = frame.buffer(op.getSlots()), y = frame.result(op.getY());
    Value weights = op.getWeights() ? frame.buffer(op.getWeights()) : Value();
    return routes.overPieces(routes.batch * routes.length, [&](Value row, Value column) {
      Value b = e.over(row, routes.length), first = e.times(row, routes.top);
      Value sum = e.number(0, e.vectorOf(e.getF32Type()));
      for (int64_t j = 0; j < routes.top; ++j) {
        Value slot = routes.slotAt(slots, e.plus(first, j)), found = routes.has(slot);
        Value value = e.loadWhole(elementOf(op.getX()), x, e.plus(routes.placeRow(b, slot), column), found);
        if (!weights) {
          sum = e.add(sum, value);
          continue;
        }
        Value weight = e.load(elementOf(op.getWeights()), weights, e.plus(first, j));
        sum = e.mulAdd(value, e.choose(found, weight, e.number(0, weight.getType())), sum);
      }
      e.storeVector(elementOf(op.getY()), sum, y, e.plus(e.times(row, routes.width), column), Value());
    });
  });
  step.finish();
  return success();
}

LogicalResult emitCombineGrad(func::FuncOp kernel, nn::CombineGradOp op, ModuleOp into) {
  StepKernel step(kernel, into, 0);
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, rowLanes(op.getX().getType()));
    Routes routes(e, op.getX().getType(), op.getSlots().getType());
    Value x = frame.buffer(op.getX()), dy = frame.buffer(op.getDy()), slots = frame.buffer(op.getSlots());
    Value dweights = frame.result(op.getDweights());
    return overWarps(e, routes.batch * routes.length * routes.top, [&](Value choice, Value lane, Value there) {
      Value row = e.over(choice, routes.top), b = e.over(row, routes.length);
      Value slot = routes.slotAt(slots, choice), found = routes.has(slot);
      Value zero = e.number(0, e.vectorOf(e.getF32Type())), from = routes.placeRow(b, slot);
      Value sums =
          e.loop(e.times(lane, e.lanes()), e.i64(routes.width), 32 * e.lanes(), zero, [&](Value column, ValueRange so) {
             Value a = e.loadWhole(elementOf(op.getX()), x, e.plus(from, column), found);
             Value d = e.loadVector(elementOf(op.getDy()), dy, e.plus(e.times(row, routes.width), column), Value());
             return SmallVector<Value>{e.mulAdd(a, d, so.front())};
           }).front();
      sums = arith::SelectOp::create(e, found, sums, zero);
      Value sum = e.joinThreads({Reduction::Sum}, e.joinLanes(Reduction::Sum, sums), 32, lane).front();
      Value first = e.both(e.compare(arith::CmpIPredicate::eq, lane, e.i64(0)), there);
      e.when(first, [&] { e.store(elementOf(op.getDweights()), sum, dweights, choice); });
    });
  });
  step.finish();
  return success();
}
} // namespace hocket::cuda
