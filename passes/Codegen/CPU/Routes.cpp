// Tokens to their experts and back: rows that numbers name are read, each result row is written once. Tiles are blocks
// of result rows.
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
struct Routes {
  Emit &e;
  int64_t experts, batch, capacity, width, length, top;
  Type i32;

  /// From the routed tensor [e, b, c, h] and slots [b, s, k].
  Routes(Emit &e, RankedTensorType routed, RankedTensorType slots)
      : e(e), experts(routed.getDimSize(0)), batch(routed.getDimSize(1)), capacity(routed.getDimSize(2)),
        width(routed.getDimSize(3)), length(slots.getDimSize(1)), top(slots.getDimSize(2)), i32(e.getI32Type()) {}

  void overColumns(function_ref<void(Value column, Value mask)> body) {
    e.loop(e.i64(0), e.i64(width), lanes,
           [&](Value column) { body(column, width % lanes ? e.lanesBelow(e.minus(e.i64(width), column)) : Value()); });
  }
  Value has(Value number) { return e.compare(arith::CmpIPredicate::sge, number, e.i64(0)); }
  /// First element of the row of sequence b's place `slot`; place 0 where there is none.
  Value placeRow(Value b, Value slot) {
    Value place = e.greatest(slot, e.i64(0));
    Value row =
        e.plus(e.times(e.plus(e.times(e.over(place, capacity), batch), b), capacity), e.modulo(place, capacity));
    return e.times(row, width);
  }
  Value slotAt(Value slots, Value at) { return e.widen(e.load(i32, slots, at)); }
  /// Emits rows [begin, end) of `rows` in blocks; returns the number of blocks.
  int64_t rows(int64_t rows, Value begin, Value end, function_ref<void(Value row)> body) {
    int64_t block = std::clamp<int64_t>(4096 / width, 1, rows);
    e.loop(e.times(begin, block), e.least(e.times(end, block), e.i64(rows)), 1, body);
    return llvm::divideCeil(rows, block);
  }
};

} // namespace

int64_t emitDispatch(Emit &e, const SpecialKernel &kernel, nn::DispatchOp op, Value begin, Value end) {
  Routes routes(e, op.getY().getType(), op.getSlots().getType());
  Value x = kernel.of(op.getX()), slots = kernel.of(op.getSlots()), tokens = kernel.of(op.getTokens());
  Value weights = op.getWeights() ? kernel.of(op.getWeights()) : Value(), y = kernel.ofResult(op.getY());
  Type xType = getElementTypeOrSelf(op.getX()), yType = getElementTypeOrSelf(op.getY());
  return routes.rows(routes.experts * routes.batch * routes.capacity, begin, end, [&](Value row) {
    Value place = e.modulo(row, routes.capacity), b = e.modulo(e.over(row, routes.capacity), routes.batch);
    Value expert = e.over(row, routes.capacity * routes.batch);
    Value slot = e.plus(e.times(expert, routes.capacity), place);
    Value token = routes.slotAt(tokens, e.plus(e.times(b, routes.experts * routes.capacity), slot));
    Value found = routes.has(token), at = e.plus(e.times(b, routes.length), e.greatest(token, e.i64(0)));
    Value weight;
    if (weights) { // that of the choice which brought the token here
      Value first = e.times(at, routes.top);
      weight = e.loop(e.i64(0), e.i64(routes.top), 1, e.number(1, e.getF32Type()), [&](Value j, ValueRange so) {
                  Value choice = e.plus(first, j);
                  Value is = e.compare(arith::CmpIPredicate::eq, routes.slotAt(slots, choice), slot);
                  return SmallVector<Value>{
                      e.choose(is, e.load(getElementTypeOrSelf(op.getWeights()), weights, choice), so.front())};
                }).front();
    }
    routes.overColumns([&](Value column, Value mask) {
      Value read = e.both(mask, e.repeat(found));
      Value value = e.loadVector(xType, x, e.plus(e.times(at, routes.width), column), read);
      if (weight)
        value = e.choose(e.repeat(found), e.mul(value, weight), e.number(0, value.getType()));
      e.storeVector(yType, value, y, e.plus(e.times(row, routes.width), column), mask);
    });
  });
}

int64_t emitCombine(Emit &e, const SpecialKernel &kernel, nn::CombineOp op, Value begin, Value end) {
  Routes routes(e, op.getX().getType(), op.getSlots().getType());
  Value x = kernel.of(op.getX()), slots = kernel.of(op.getSlots()), y = kernel.ofResult(op.getY());
  Value weights = op.getWeights() ? kernel.of(op.getWeights()) : Value();
  Type xType = getElementTypeOrSelf(op.getX()), yType = getElementTypeOrSelf(op.getY());
  return routes.rows(routes.batch * routes.length, begin, end, [&](Value row) {
    Value b = e.over(row, routes.length), first = e.times(row, routes.top);
    routes.overColumns([&](Value column, Value mask) {
      Value zero = e.number(0, e.vectorOf(e.getF32Type()));
      Value sum = e.loop(e.i64(0), e.i64(routes.top), 1, zero, [&](Value j, ValueRange so) {
                     Value slot = routes.slotAt(slots, e.plus(first, j)), found = routes.has(slot);
                     Value at = e.plus(routes.placeRow(b, slot), column);
                     Value value = e.loadVector(xType, x, at, e.both(mask, e.repeat(found)));
                     if (!weights)
                       return SmallVector<Value>{e.add(so.front(), value)};
                     Value weight = e.load(getElementTypeOrSelf(op.getWeights()), weights, e.plus(first, j));
                     weight = e.choose(found, weight, e.number(0, weight.getType()));
                     return SmallVector<Value>{e.mulAdd(value, weight, so.front())};
                   }).front();
      e.storeVector(yType, sum, y, e.plus(e.times(row, routes.width), column), mask);
    });
  });
}

int64_t emitCombineGrad(Emit &e, const SpecialKernel &kernel, nn::CombineGradOp op, Value begin, Value end) {
  Routes routes(e, op.getX().getType(), op.getSlots().getType());
  Value x = kernel.of(op.getX()), dy = kernel.of(op.getDy()), slots = kernel.of(op.getSlots());
  Value dweights = kernel.ofResult(op.getDweights());
  return routes.rows(routes.batch * routes.length, begin, end, [&](Value row) {
    Value b = e.over(row, routes.length);
    e.loop(e.i64(0), e.i64(routes.top), 1, [&](Value j) {
      Value choice = e.plus(e.times(row, routes.top), j), slot = routes.slotAt(slots, choice);
      Value found = routes.has(slot), zero = e.number(0, e.vectorOf(e.getF32Type()));
      Value sums =
          e.loop(e.i64(0), e.i64(routes.width), lanes, zero, [&](Value column, ValueRange so) {
             Value mask = routes.width % lanes ? e.lanesBelow(e.minus(e.i64(routes.width), column)) : Value();
             mask = e.both(mask, e.repeat(found));
             Value a = e.loadVector(getElementTypeOrSelf(op.getX()), x, e.plus(routes.placeRow(b, slot), column), mask);
             Value d =
                 e.loadVector(getElementTypeOrSelf(op.getDy()), dy, e.plus(e.times(row, routes.width), column), mask);
             return SmallVector<Value>{e.mulAdd(a, d, so.front())};
           }).front();
      e.store(getElementTypeOrSelf(op.getDweights()), e.joinLanes(Reduction::Sum, sums), dweights, choice);
    });
  });
}
} // namespace hocket::cpu
