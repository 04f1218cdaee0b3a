// Rotary position embedding: a thread finds the cosines and sines of a few pairs of a token, once, and turns those of
// all heads. As on the CPU, angles are found in double and reduced to one turn before their sine is taken; here the
// cosines and sines are double too and kept as pairs, since the two terms of a turned number may cancel.
#include "passes/Codegen/CUDA/SpecialEmitters.h"
#include "passes/Codegen/Graph/Pairs.h"
#include <cmath>
#include <numbers>
using namespace mlir;

namespace hocket::cuda {
namespace {
struct Rope {
  GpuEmit &e;
  nn::RopeOp op;
  Value x, y, positions;
  int64_t size, half, tokens, heads;
  Type f32, f64, xType, yType;

  Rope(GpuEmit &e, GpuFrame &frame, nn::RopeOp op)
      : e(e), op(op), x(frame.buffer(op.getX())), y(frame.result(op.getY())),
        positions(frame.buffer(op.getPositions())), f32(e.getF32Type()), f64(e.getF64Type()),
        xType(elementOf(op.getX())), yType(elementOf(op.getY())) {
    auto shape = op.getX().getType().getShape();
    size = shape.back(), half = halfOf(op);
    tokens = shape[0] * shape[1];
    heads = op.getX().getType().getNumElements() / (tokens * size);
  }
  static int64_t halfOf(nn::RopeOp op) {
    return static_cast<int64_t>(op.getDims().value_or(op.getX().getType().getShape().back())) / 2;
  }

  struct Angles {
    codegen::Pair cosines, sines;
  };
  /// Cosines and sines of pairs pair … pair + lanes of a token.
  Angles angles(Value token, Value pair) {
    double theta = op.getTheta().convertToDouble();
    double scale = op.getPositionScale() ? op.getPositionScale()->convertToDouble() : 1;
    Value position = arith::SIToFPOp::create(e, f64, e.load(e.getI32Type(), positions, token));
    Value zeros = e.number(0, e.vectorOf(f32));
    Angles made{{zeros, zeros}, {zeros, zeros}};
    for (int64_t i = 0; i < e.lanes(); ++i) {
      // turns per position: scale theta^(-pair / half) / 2 pi
      Value power = arith::SIToFPOp::create(e, f64, e.plus(pair, i));
      Value turns = math::Exp2Op::create(e, e.mul(power, e.number(-std::log2(theta) / double(half), f64)));
      Value turned = e.mul(e.mul(turns, e.number(scale / (2 * std::numbers::pi), f64)), position);
      Value part = e.sub(turned, math::RoundEvenOp::create(e, turned)); // -1/2 … 1/2
      insert(made.cosines, cosine(part), i);
      // sin x = cos(x - a quarter turn), and the other way round with -sin
      Value quarter = e.number(0.25, f64);
      insert(made.sines, cosine(op.getInverse() ? e.add(part, quarter) : e.sub(part, quarter)), i);
    }
    return made;
  }
  Value cosine(Value turns) { return math::CosOp::create(e, e.mul(turns, e.number(2 * std::numbers::pi, f64))); }
  void insert(codegen::Pair &numbers, Value number, int64_t lane) {
    auto [hi, lo] = codegen::Pairs(e).split(number);
    numbers.hi = LLVM::InsertElementOp::create(e, numbers.hi, hi, e.i64(lane));
    numbers.lo = LLVM::InsertElementOp::create(e, numbers.lo, lo, e.i64(lane));
  }
  std::pair<Value, Value> turned(Value a, Value b, const Angles &angle) {
    codegen::Pairs pairs(e);
    auto sum = [&](codegen::Pair x, codegen::Pair y) { return pairs.rounded(pairs.sum(x, y)); };
    return {sum(pairs.product(angle.cosines, a), pairs.product(angle.sines, pairs.negated(b))),
            sum(pairs.product(angle.sines, a), pairs.product(angle.cosines, b))};
  }
  /// Numbers `first`, first + 2, … of a vector of twice as many.
  Value everySecond(Value vector, int32_t first) {
    SmallVector<int32_t> which;
    for (int32_t i = 0; i < e.lanes(); ++i)
      which.push_back(first + 2 * i);
    return LLVM::ShuffleVectorOp::create(e, vector, vector, which);
  }
  Value woven(Value a, Value b) {
    SmallVector<int32_t> which;
    for (int32_t i = 0; i < e.lanes(); ++i)
      which.push_back(i), which.push_back(static_cast<int32_t>(e.lanes()) + i);
    return LLVM::ShuffleVectorOp::create(e, a, b, which);
  }
  void turnPairs(Value row, Value pair, const Angles &angle) {
    int64_t lanes = e.lanes();
    if (!op.getInterleaved()) {
      Value first = e.plus(row, pair), second = e.plus(first, half);
      auto [a, b] = turned(e.loadVector(xType, x, first, Value()), e.loadVector(xType, x, second, Value()), angle);
      e.storeVector(yType, a, y, first, Value());
      return e.storeVector(yType, b, y, second, Value());
    }
    Value first = e.plus(row, e.times(pair, 2));
    e.setLanes(2 * lanes);
    Value both = e.loadVector(xType, x, first, Value());
    e.setLanes(lanes);
    auto [a, b] = turned(everySecond(both, 0), everySecond(both, 1), angle);
    Value together = woven(a, b);
    e.setLanes(2 * lanes);
    e.storeVector(yType, together, y, first, Value());
    e.setLanes(lanes);
  }
  void overHeads(Value token, function_ref<void(Value row)> body) {
    e.loop(e.i64(0), e.i64(heads), 1,
           [&](Value head) { body(e.plus(e.times(token, heads * size), e.times(head, size))); });
  }
};
} // namespace

LogicalResult emitRope(func::FuncOp kernel, nn::RopeOp op, ModuleOp into) {
  int64_t half = Rope::halfOf(op), size = op.getX().getType().getShape().back();
  StepKernel step(kernel, into, 0);
  step.add([&](GpuFrame &frame) {
    int64_t lanes = op.getInterleaved() ? std::min<int64_t>(4, lanesOf({half, size})) : lanesOf({half, size});
    GpuEmit e(frame, lanes);
    Rope rope(e, frame, op);
    int64_t pieces = half / lanes;
    return overThreads(e, rope.tokens * pieces, [&](Value index) {
      Value token = e.over(index, pieces), pair = e.times(e.modulo(index, pieces), lanes);
      Rope::Angles angle = rope.angles(token, pair);
      rope.overHeads(token, [&](Value row) { rope.turnPairs(row, pair, angle); });
    });
  });
  if (2 * half < size) // beyond the rotary part
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, lanesOf({2 * half, size}));
      Rope rope(e, frame, op);
      int64_t pieces = (size - 2 * half) / e.lanes();
      return overThreads(e, rope.tokens * rope.heads * pieces, [&](Value index) {
        Value column = e.plus(e.times(e.modulo(index, pieces), e.lanes()), 2 * half);
        Value at = e.plus(e.times(e.over(index, pieces), size), column);
        e.storeVector(rope.yType, e.loadVector(rope.xType, rope.x, at, Value()), rope.y, at, Value());
      });
    });
  step.finish();
  return success();
}
} // namespace hocket::cuda
