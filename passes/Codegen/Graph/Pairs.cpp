// See Pairs.h.
#include "passes/Codegen/Graph/Pairs.h"
#include <numbers>
using namespace mlir;

namespace hocket::codegen {
std::pair<float, float> splitNumber(double value) {
  auto hi = static_cast<float>(value);
  return {hi, static_cast<float>(value - static_cast<double>(hi))};
}

Pair Pairs::number(double value, Type type) {
  auto [hi, lo] = splitNumber(value);
  return {e.number(hi, type), e.number(lo, type)};
}
Pair Pairs::split(Value f64) {
  Type single = e.getF32Type();
  Value hi = arith::TruncFOp::create(e, single, f64);
  return {hi, arith::TruncFOp::create(e, single, e.sub(f64, arith::ExtFOp::create(e, e.getF64Type(), hi)))};
}
Pair Pairs::product(Value a, Value b) {
  Value hi = e.mul(a, b);
  return {hi, e.mulAdd(a, b, negated(hi))};
}
Pair Pairs::sum(Value a, Value b) {
  Value hi = e.add(a, b), ofB = e.sub(hi, a);
  return {hi, e.add(e.sub(a, e.sub(hi, ofB)), e.sub(b, ofB))};
}
Pair Pairs::ordered(Value a, Value b) {
  Value hi = e.add(a, b);
  return {hi, e.sub(b, e.sub(hi, a))};
}
Pair Pairs::product(Pair a, Value b) {
  Pair made = product(a.hi, b);
  return {made.hi, e.mulAdd(a.lo, b, made.lo)};
}
Pair Pairs::product(Pair a, Pair b) {
  Pair made = product(a.hi, b.hi);
  return {made.hi, e.mulAdd(a.hi, b.lo, e.mulAdd(a.lo, b.hi, made.lo))};
}
Pair Pairs::sum(Pair a, Pair b) {
  Pair made = sum(a.hi, b.hi);
  return {made.hi, e.add(made.lo, e.add(a.lo, b.lo))};
}
Pair Pairs::quotient(Pair a, Pair b) {
  Value hi = e.div(a.hi, b.hi), minus = negated(hi);
  Value rest = e.add(e.mulAdd(minus, b.hi, a.hi), e.mulAdd(minus, b.lo, a.lo));
  return {hi, e.div(rest, b.hi)};
}
Pair Pairs::sqrt(Pair a) {
  Value hi = math::SqrtOp::create(e, a.hi), zero = e.number(0, hi.getType());
  Value rest = e.add(e.mulAdd(negated(hi), hi, a.hi), a.lo); // a - hi^2 = 2 hi (sqrt(a) - hi)
  Value some = arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, hi, zero);
  return {hi, e.choose(some, e.div(rest, e.add(hi, hi)), zero)};
}

Scaled Pairs::exponential(Pair a) {
  Type type = a.hi.getType();
  auto real = [&](double value) { return e.number(value, type); };
  // a NaN passes through r; its k is a number, since no integer could be made of it
  Value least = e.max(a.hi, real(-160));
  Value k = math::RoundEvenOp::create(e, e.mul(least, real(std::numbers::log2e)));
  auto [ln2Hi, ln2Lo] = splitNumber(std::numbers::ln2);
  Value r = e.mulAdd(k, real(-ln2Hi), a.hi), rest = e.mulAdd(k, real(-ln2Lo), a.lo); // r is exact
  Value tail = real(1.0 / 5040);
  for (double factorial : {720, 120, 24, 6, 2})
    tail = e.mulAdd(tail, r, real(1 / factorial));
  Value curved = e.mul(e.mul(r, r), tail);                             // e^r - 1 - r
  Value small = e.add(curved, e.mulAdd(rest, e.add(r, curved), rest)); // and e^r (e^rest - 1)
  Pair line = ordered(real(1), r);
  Scaled made{ordered(line.hi, e.add(line.lo, small)), {}};

  Type integer = e.getI32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    integer = vector.clone(integer);
  auto whole = [&](double value) { return e.number(value, integer); };
  auto powerOfTwo = [&](Value exponent) -> Value {
    Value biased = arith::ShLIOp::create(e, e.add(exponent, whole(127)), whole(23));
    return arith::BitcastOp::create(e, type, biased);
  };
  Value exponent = arith::FPToSIOp::create(e, integer, k), half = arith::ShRSIOp::create(e, exponent, whole(1));
  made.scale = {powerOfTwo(half), powerOfTwo(e.sub(exponent, half))};
  return made;
}
} // namespace hocket::codegen
