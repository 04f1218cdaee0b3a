// gelu, silu and their derivatives, x sigmoid(z) (Fusion/Activations.h). Instead of 1 + tanh, which is all rounding
// error where gelu is small, they are made of e^-|z|, a number below 1: exact to units of the result wherever it lies.
//
// In 16 bits plain f32 is enough. For f32, z and what follows of it are pairs (Pairs.h): an error of z, which grows
// with it, would be one of the exponential. A derivative has a zero, where its terms cancel and what is left is the
// exponential's own rounding: near it, it is the distance to the zero times a polynomial.
#include "passes/Codegen/Fusion/Activations.h"
#include "passes/Codegen/Graph/Graph.h"
#include "passes/Codegen/Graph/Pairs.h"
#include <cmath>
#include <numbers>
using namespace mlir;

namespace hocket::codegen {
namespace {
/// derivative(x) = d (c0 + c1 d + …) with d = x - zero, for |d| < width.
struct NearZero {
  static constexpr int terms = 8;
  static constexpr double width = 0.35;
  double zero = 0;
  std::array<double, terms> coefficients{};

  explicit NearZero(const Gate &gate) {
    double low = -2, high = -0.5; // of opposite signs for both
    for (int i = 0; i < 60; ++i)
      (gate.derivative((low + high) / 2) < 0 ? low : high) = (low + high) / 2;
    zero = low;
    // Newton's interpolation at Chebyshev's points, multiplied out
    std::array<double, terms> at{}, divided{};
    for (int i = 0; i < terms; ++i) {
      at[i] = width * std::cos(std::numbers::pi * (i + 0.5) / terms);
      divided[i] = gate.derivative(zero + at[i]) / at[i];
    }
    for (int k = 1; k < terms; ++k)
      for (int i = terms - 1; i >= k; --i)
        divided[i] = (divided[i] - divided[i - 1]) / (at[i] - at[i - k]);
    for (int i = terms - 1; i >= 0; --i) {
      for (int k = terms - 1; k > 0; --k)
        coefficients[k] = coefficients[k - 1] - coefficients[k] * at[i];
      coefficients[0] = divided[i] - coefficients[0] * at[i];
    }
  }
};

class Activation {
public:
  Activation(Emit &e, const Gate &gate, Value x)
      : e(e), pairs(e), gate(gate), x(x), type(x.getType()), negative(compare(arith::CmpFPredicate::OLT, x, 0)) {
    Value above = compare(arith::CmpFPredicate::OGT, x, farthest());
    near = e.choose(compare(arith::CmpFPredicate::OLT, x, -farthest()), real(-farthest()),
                    e.choose(above, real(farthest()), x));
  }

  /// In 16 bits. e^-z may be infinite: x / inf is the 0 that it should be.
  Value plainValue() { return e.div(x, e.add(real(1), e.exp(pairs.negated(plainZ(x))))); }
  Value plainDerivative(Value by) {
    Value slope = e.mulAdd(e.mul(near, near), real(3 * gate.cubic), real(gate.linear));
    Value small = e.exp(pairs.negated(math::AbsFOp::create(e, plainZ(near)))), whole = e.add(real(1), small);
    Value sum = e.mulAdd(e.choose(negative, near, e.mul(small, near)), slope, whole);
    return e.mul(by, e.div(e.mul(e.choose(negative, small, real(1)), sum), e.mul(whole, whole)));
  }

  Value exactValue() {
    Scaled power = exponential();
    Pair over = pairs.product(power.number, near), whole = onePlus(power);
    over = {e.choose(negative, over.hi, near), e.choose(negative, over.lo, real(0))};
    Value y = pairs.rounded(pairs.quotient(over, whole));
    // an infinite x, or none, stays what it is
    Value between = compare(arith::CmpFPredicate::OLE, x, farthest());
    return e.choose(between, e.choose(negative, pairs.scaled(y, power), y), x);
  }
  Value exactDerivative(Value by) {
    // sigmoid(z) (1 + (1 - sigmoid(z)) x z') over a common denominator: (1 + e^-|z|)^2
    Scaled power = exponential();
    Pair whole = onePlus(power), steep = pairs.product(factorOfX(3 * gate.cubic), near);
    Pair gentle = pairs.product(steep, applied(power));
    Pair sum = pairs.sum(whole, {e.choose(negative, steep.hi, gentle.hi), e.choose(negative, steep.lo, gentle.lo)});
    Pair far = pairs.product(pairs.quotient(pairs.quotient(sum, whole), whole), by);
    Pair left = pairs.product(far, power.number);
    return nearZero(by, e.choose(negative, pairs.scaled(pairs.rounded(left), power), pairs.rounded(far)));
  }

private:
  Value real(double value) { return e.number(value, type); }
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return arith::CmpFOp::create(e, predicate, a, real(b));
  }
  /// Beyond it e^-|z| is 0 in f32, and cubes might overflow.
  double farthest() const { return gate.cubic != 0 ? 16 : 160; }
  Value plainZ(Value of) {
    return gate.cubic == 0 ? of : e.mul(of, e.mulAdd(e.mul(of, of), real(gate.cubic), real(gate.linear)));
  }
  /// linear + `cubic` x^2
  Pair factorOfX(double cubic) {
    if (cubic == 0)
      return pairs.number(gate.linear, type);
    Pair square = pairs.product(near, near);
    return pairs.sum(pairs.product(pairs.number(cubic, type), square), pairs.number(gate.linear, type));
  }
  /// e^-|z|
  Scaled exponential() {
    Pair z{near, real(0)};
    if (gate.cubic != 0)
      z = pairs.product(factorOfX(gate.cubic), near);
    return pairs.exponential({e.choose(negative, z.hi, pairs.negated(z.hi)), //
                              e.choose(negative, z.lo, pairs.negated(z.lo))});
  }
  Pair applied(const Scaled &power) {
    return {pairs.scaled(power.number.hi, power), pairs.scaled(power.number.lo, power)};
  }
  Pair onePlus(const Scaled &power) {
    Pair small = applied(power), whole = pairs.ordered(real(1), small.hi);
    return {whole.hi, e.add(whole.lo, small.lo)};
  }
  Value nearZero(Value by, Value far) {
    NearZero form(gate);
    auto [zeroHi, zeroLo] = splitNumber(form.zero);
    auto [firstHi, firstLo] = splitNumber(form.coefficients[0]);
    Value whole = e.sub(x, real(zeroHi)); // exact
    Pair distance = pairs.ordered(whole, real(-zeroLo));
    Value tail = real(form.coefficients.back());
    for (int i = NearZero::terms - 2; i > 0; --i)
      tail = e.mulAdd(tail, distance.hi, real(form.coefficients[i]));
    Pair slope = pairs.ordered(real(firstHi), e.mulAdd(tail, distance.hi, real(firstLo)));
    Value made = pairs.rounded(pairs.product(pairs.product(slope, distance), by));
    Value inside = compare(arith::CmpFPredicate::OLT, math::AbsFOp::create(e, whole), NearZero::width);
    return e.choose(inside, made, far);
  }

  Emit &e;
  Pairs pairs;
  Gate gate;
  Value x;
  Type type;
  Value negative, near; ///< `near`: x, but no farther than matters
};

bool narrow(Value tensor) { return isNarrow(cast<RankedTensorType>(tensor.getType()).getElementType()); }
} // namespace

LogicalResult buildActivationRule(Graph &graph, Operation *op) {
  std::optional<Gate> gate = gateOf(op), ofGradient = gate ? std::nullopt : gateOfGradient(op);
  if (!gate && !ofGradient)
    return failure();
  Value x = op->getOperands().back(), y = op->getResult(0);
  if (!scalarType(cast<RankedTensorType>(x.getType()).getElementType()).isF32())
    return failure();
  bool plain = narrow(x) && narrow(y);
  SmallVector<Ref> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(graph.read(op, i));
  Space space = graph.getShape().spaces.lookup(y);
  graph.define(y, graph.map(space, operands, [=](Emit &e, ValueRange v) {
    Activation made(e, gate ? *gate : *ofGradient, v.back());
    if (gate)
      return plain ? made.plainValue() : made.exactValue();
    return plain ? made.plainDerivative(v[0]) : made.exactDerivative(v[0]);
  }));
  return success();
}
} // namespace hocket::codegen
