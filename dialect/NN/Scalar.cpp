// Ops that do the same to every element: gelu, silu, add, mul. Their evaluation is written out and not run from their
// bodies, so that it judges the bodies (and the kernels that are made from them).
#include "dialect/NN/ScalarBody.h"
#include "dialect/NN/ScalarGradient.h"
#include "dialect/NN/ShapeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;

namespace {
std::string unaryRule(Value x) {
  int64_t rank = tensorType(x).getRank();
  std::string d = rank == 0 ? "_" : factorNames("d", rank);
  return d + " -> " + d;
}

/// "d0 d1 d2, d2 -> d0 d1 d2": b has the trailing dimensions of a.
std::string binaryRule(Value a, Value b) {
  int64_t rank = tensorType(a).getRank(), other = tensorType(b).getRank();
  std::string all = rank == 0 ? "_" : factorNames("d", rank);
  std::string trailing = other == 0 ? "_" : factorNames("d", other, rank - other);
  return all + ", " + trailing + " -> " + all;
}

LogicalResult verifyUnary(ShapeCheck check, Value x, Value y) {
  return check.floating({{"x", x}, {"y", y}}).fits(unaryRule(x), "x -> y").result();
}

LogicalResult verifyBinary(ShapeCheck check, Value a, Value b, Value y) {
  Type element = tensorType(a).getElementType();
  if (!element.isIntOrFloat())
    check.fault() << "element type of a is " << element << ", expected an integer or float type";
  check.element({"b", b}, element, "that of a").element({"y", y}, element, "that of a");
  if (check.rank({"b", b}, 0, tensorType(a).getRank(), "the rank of a"))
    check.fits(binaryRule(a, b), "a, b -> y");
  return check.result();
}

template <typename Fn> void mapElements(ArrayRef<const HostTensor *> operands, HostTensor &y, Fn fn) {
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = fn((*operands[0])[i], (*operands.back())[i % operands.back()->size()]);
}

Value constant(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
}

/// 1 / (1 + exp(-x))
Value sigmoid(OpBuilder &builder, Location loc, Value x) {
  Value one = constant(builder, loc, x.getType(), 1);
  Value exponential = math::ExpOp::create(builder, loc, arith::NegFOp::create(builder, loc, x));
  return arith::DivFOp::create(builder, loc, one, arith::AddFOp::create(builder, loc, one, exponential));
}

/// OpF on floats, OpI on integers.
template <typename OpF, typename OpI> SmallVector<Value> binaryBody(OpBuilder &builder, Location loc, ValueRange args) {
  if (isa<FloatType>(args[0].getType()))
    return {OpF::create(builder, loc, args[0], args[1])};
  return {OpI::create(builder, loc, args[0], args[1])};
}
} // namespace

// ---- gelu -----------------------------------------------------------------------------------------------------------
LogicalResult GeluOp::verify() { return verifyUnary(ShapeCheck(*this), getX(), getY()); }
FactorRule GeluOp::getFactorRule() { return FactorRule::parse(*this, unaryRule(getX())); }
void GeluOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  mapElements(operands, results[0],
              [](double x, double) { return x / 2 * (1 + std::tanh(geluSlope * (x + geluCubic * x * x * x))); });
}
SmallVector<Value> GeluOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  Location loc = getLoc();
  Value x = args[0];
  auto number = [&](double value) { return constant(builder, loc, x.getType(), value); };
  auto mul = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, loc, a, b); };
  auto add = [&](Value a, Value b) -> Value { return arith::AddFOp::create(builder, loc, a, b); };
  Value inner = mul(number(geluSlope), add(x, mul(number(geluCubic), mul(mul(x, x), x))));
  Value gate = add(number(1), math::TanhOp::create(builder, loc, inner));
  return {mul(mul(number(0.5), x), gate)};
}
void GeluOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                           MutableArrayRef<Value> operandGrads) {
  buildScalarGradient(*this, "gelu", builder, resultGrads, needed, operandGrads);
}

// ---- silu -----------------------------------------------------------------------------------------------------------
LogicalResult SiluOp::verify() { return verifyUnary(ShapeCheck(*this), getX(), getY()); }
FactorRule SiluOp::getFactorRule() { return FactorRule::parse(*this, unaryRule(getX())); }
void SiluOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  mapElements(operands, results[0], [](double x, double) { return x / (1 + std::exp(-x)); });
}
SmallVector<Value> SiluOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  return {arith::MulFOp::create(builder, getLoc(), args[0], sigmoid(builder, getLoc(), args[0]))};
}
/// dx = dy s (1 + x (1 - s)) with s the sigmoid. The chain rule would multiply 0 by exp(-x) = inf for very negative x.
void SiluOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                           MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0])
    return;
  Location loc = getLoc();
  auto body = [&](OpBuilder &inner, ValueRange args) -> SmallVector<Value> {
    Value dy = args[0], x = args[1], one = constant(inner, loc, x.getType(), 1), s = sigmoid(inner, loc, x);
    Value rest = arith::MulFOp::create(inner, loc, x, arith::SubFOp::create(inner, loc, one, s));
    Value slope = arith::MulFOp::create(inner, loc, s, arith::AddFOp::create(inner, loc, one, rest));
    return {arith::MulFOp::create(inner, loc, dy, slope)};
  };
  operandGrads[0] =
      buildElementwise(builder, loc, "silu_grad", getX().getType(), {resultGrads[0], getX()}, body).getResult(0);
}

// ---- cast -----------------------------------------------------------------------------------------------------------
LogicalResult CastOp::verify() {
  ShapeCheck check(*this);
  auto floating = [&](StringRef name, Value value) {
    if (Type element = tensorType(value).getElementType(); !isa<FloatType>(element))
      check.fault() << "element type of " << name << " is " << element << ", expected a float type";
  };
  floating("x", getX());
  floating("y", getY());
  if (check.sound() && tensorType(getX()).getElementType() == tensorType(getY()).getElementType())
    check.fault() << "makes " << tensorType(getY()).getElementType() << " of itself, expected another float type";
  return check.fits(unaryRule(getX()), "x -> y").result();
}
FactorRule CastOp::getFactorRule() {
  return FactorRule::parse(*this, unaryRule(getX())).linear({getSummands() ? Linearity::Joint : Linearity::None});
}
void CastOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  results[0].data = operands[0]->data; // rounding is the machine's
}
SmallVector<Value> CastOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  auto from = cast<FloatType>(args[0].getType()), to = cast<FloatType>(scalarType(tensorType(getY()).getElementType()));
  if (from == to)
    return {args[0]};
  if (from.getWidth() < to.getWidth())
    return {arith::ExtFOp::create(builder, getLoc(), to, args[0])};
  return {arith::TruncFOp::create(builder, getLoc(), to, args[0])};
}
void CastOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                           MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = make<CastOp>(builder, getLoc(), getX().getType(), resultGrads[0], /*summands=*/false);
}

// ---- add ------------------------------------------------------------------------------------------------------------
LogicalResult AddOp::verify() { return verifyBinary(ShapeCheck(*this), getA(), getB(), getY()); }
FactorRule AddOp::getFactorRule() {
  return FactorRule::parse(*this, binaryRule(getA(), getB())).linear({Linearity::Joint, Linearity::Joint});
}
void AddOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  mapElements(operands, results[0], [](double a, double b) { return a + b; });
}
SmallVector<Value> AddOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  return binaryBody<arith::AddFOp, arith::AddIOp>(builder, getLoc(), args);
}
void AddOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                          MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (dy && needed[0])
    operandGrads[0] = dy;
  if (dy && needed[1])
    operandGrads[1] = buildSumTo(builder, getLoc(), dy, tensorType(getB()));
}

// ---- mul ------------------------------------------------------------------------------------------------------------
LogicalResult MulOp::verify() { return verifyBinary(ShapeCheck(*this), getA(), getB(), getY()); }
FactorRule MulOp::getFactorRule() {
  return FactorRule::parse(*this, binaryRule(getA(), getB())).linear({Linearity::Multi, Linearity::Multi});
}
void MulOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  mapElements(operands, results[0], [](double a, double b) { return a * b; });
}
SmallVector<Value> MulOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  return binaryBody<arith::MulFOp, arith::MulIOp>(builder, getLoc(), args);
}
void MulOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                          MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (dy && needed[0])
    operandGrads[0] = make<MulOp>(builder, getLoc(), getA().getType(), dy, getB());
  if (dy && needed[1]) {
    Value product = make<MulOp>(builder, getLoc(), getA().getType(), dy, getA());
    operandGrads[1] = buildSumTo(builder, getLoc(), product, tensorType(getB()));
  }
}
