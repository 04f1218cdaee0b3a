// Rotary position embedding: for each token a table of cosines and sines, then all of its heads. Angles are found in
// double and reduced to one turn before their sine is taken, so that far positions stay exact.
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numbers>
using namespace mlir;

namespace hocket::cpu {
namespace {
struct Rope {
  Emit &e;
  nn::RopeOp op;
  Value x, y, positions;
  int64_t size, half, tokens, heads;
  bool interleaved;
  Type f32, f64, xType, yType;
  Value cosines, sines, turns; ///< per pair, on the stack: of the token; turns per position (double)

  Rope(Emit &e, nn::RopeOp op, const SpecialKernel &kernel) : e(e), op(op), f32(e.getF32Type()), f64(e.getF64Type()) {
    auto shape = op.getX().getType().getShape();
    size = shape.back();
    half = static_cast<int64_t>(op.getDims().value_or(size)) / 2;
    tokens = shape[0] * shape[1];
    heads = op.getX().getType().getNumElements() / (tokens * size);
    interleaved = op.getInterleaved();
    xType = op.getX().getType().getElementType(), yType = op.getY().getType().getElementType();
    x = kernel.of(op.getX()), y = kernel.ofResult(op.getY()), positions = kernel.of(op.getPositions());
    int64_t padded = llvm::alignTo(half, lanes);
    cosines = e.stackArray(f32, padded), sines = e.stackArray(f32, padded), turns = e.stackArray(f64, padded);
  }

  /// Turns per position of each pair: scale * theta^(-2i/dims) / 2 pi.
  void fillTurns() {
    double theta = op.getTheta().convertToDouble();
    double scale = op.getPositionScale() ? op.getPositionScale()->convertToDouble() : 1;
    for (int64_t first = 0; first < half; first += lanes) {
      SmallVector<double> each;
      for (int64_t i = first; i < first + lanes; ++i)
        each.push_back(i < half ? scale * std::pow(theta, -double(i) / double(half)) / (2 * std::numbers::pi) : 0);
      Value vector = arith::ConstantOp::create(e, DenseElementsAttr::get(e.vectorOf(f64), ArrayRef<double>(each)));
      e.storeVector(f64, vector, turns, e.i64(first), Value());
    }
  }
  void tokenTable(Value token) {
    Value position = arith::SIToFPOp::create(e, f64, e.load(e.getI32Type(), positions, token));
    e.loop(e.i64(0), e.i64(half), lanes, [&](Value i) {
      Value turned = e.mul(e.loadVector(f64, turns, i, Value()), position);
      Value part = e.sub(turned, math::RoundEvenOp::create(e, turned)); // -1/2 … 1/2
      Value angle = arith::TruncFOp::create(e, e.vectorOf(f32), e.mul(part, e.number(2 * std::numbers::pi, f64)));
      Value sine = math::SinOp::create(e, angle);
      if (op.getInverse())
        sine = arith::NegFOp::create(e, sine);
      e.storeVector(f32, math::CosOp::create(e, angle), cosines, i, Value());
      e.storeVector(f32, sine, sines, i, Value());
    });
  }
  /// Elements first[i], second[i] of 32 pairs turn together.
  void turnPairs(Value row, Value i, Value mask) {
    Value first = interleaved ? e.plus(row, e.times(i, 2)) : e.plus(row, i);
    Value second = e.plus(first, interleaved ? 1 : half);
    int64_t stride = interleaved ? 2 : 1;
    auto read = [&](Value at) {
      return interleaved ? e.gather(xType, x, at, stride, mask) : e.loadVector(xType, x, at, mask);
    };
    auto write = [&](Value value, Value at) {
      interleaved ? e.scatter(yType, value, y, at, stride, mask) : e.storeVector(yType, value, y, at, mask);
    };
    Value a = read(first), b = read(second);
    Value cosine = e.loadVector(f32, cosines, i, Value()), sine = e.loadVector(f32, sines, i, Value());
    Value turnedA = e.mulAdd(a, cosine, arith::NegFOp::create(e, e.mul(b, sine)));
    Value turnedB = e.mulAdd(a, sine, e.mul(b, cosine));
    write(turnedA, first);
    write(turnedB, second);
  }
  void head(Value row) {
    e.loop(e.i64(0), e.i64(half / lanes * lanes), lanes, [&](Value i) { turnPairs(row, i, Value()); });
    if (half % lanes)
      turnPairs(row, e.i64(half / lanes * lanes), e.lanesBelow(e.i64(half % lanes)));
    for (int64_t i = 2 * half; i < size; i += lanes) { // beyond the rotary part
      Value mask = size - i < lanes ? e.lanesBelow(e.i64(size - i)) : Value();
      e.storeVector(yType, e.loadVector(xType, x, e.plus(row, i), mask), y, e.plus(row, i), mask);
    }
  }
};
} // namespace

int64_t emitRope(Emit &e, const SpecialKernel &kernel, nn::RopeOp op, Value begin, Value end) {
  Rope rope(e, op, kernel);
  int64_t row = rope.heads * rope.size;
  int64_t block = std::clamp<int64_t>(4096 / row, 1, rope.tokens);
  rope.fillTurns();
  Value last = e.least(e.times(end, block), e.i64(rope.tokens));
  e.loop(e.times(begin, block), last, 1, [&](Value token) {
    rope.tokenTable(token);
    e.loop(e.i64(0), e.i64(rope.heads), 1,
           [&](Value head) { rope.head(e.plus(e.times(token, row), e.times(head, rope.size))); });
  });
  return llvm::divideCeil(rope.tokens, block);
}
} // namespace hocket::cpu
