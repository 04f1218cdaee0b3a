// Tokens on their way to experts and back. Every result row is read from rows that the router's numbers name, so
// nothing is added to from two sides, forward or backward: dispatch and combine are each other's transpose.
#include "dialect/NN/ShapeCheck.h"
using namespace mlir;
using namespace hocket::nn;

namespace {
IntegerType i32(Operation *op) { return IntegerType::get(op->getContext(), 32); }

/// False for -1, and for what lies in padding.
bool hasPlace(double number) { return number >= 0; }

/// Rows of a routed tensor [e, b, c, h].
struct Places {
  int64_t batch, capacity, width;
  explicit Places(const HostTensor &routed)
      : batch(routed.shape[1]), capacity(routed.shape[2]), width(routed.shape[3]) {}
  /// First element of place `slot` of sequence b.
  int64_t row(int64_t b, int64_t slot) const {
    return ((slot / capacity * batch + b) * capacity + slot % capacity) * width;
  }
};

/// A route's operands but x: "slots b s k, tokens b n c, weights b s k". Experts and places are never split: who needs
/// them so gets them by an exchange. `n` is the number of experts, as `e` is, under another name: a split of the
/// experts' weights is none of the router's columns.
std::string routeRule(Value weights, StringRef x, StringRef y) {
  return (x + ", b !s !k, b !n !c" + (weights ? ", b !s !k" : "") + " -> " + y).str();
}
constexpr StringLiteral atTokens = "b !s h", atPlaces = "!e b !c h";

template <typename OpT> LogicalResult verifyRoute(OpT op, StringRef x, StringRef y, bool fromTokens) {
  ShapeCheck check(op);
  check.floating({{"x", op.getX()}, {"y", op.getY()}})
      .element({"slots", op.getSlots()}, i32(op))
      .element({"tokens", op.getTokens()}, i32(op));
  if (op.getWeights())
    check.widened({"weights", op.getWeights()}, {"x", op.getX()});
  check.fits(routeRule(op.getWeights(), x, y), "x, slots, tokens, weights -> y");
  RankedTensorType places = tensorType(fromTokens ? op.getY() : op.getX()), tokens = tensorType(op.getTokens());
  if (check.sound() && places.getDimSize(0) != tokens.getDimSize(1))
    check.fault() << "dimension 0 of " << (fromTokens ? "y" : "x") << " is " << places.getDimSize(0) << ", expected "
                  << tokens.getDimSize(1) << ", the experts of tokens";
  return check.result();
}

template <typename OpT> FactorRule ruleOf(OpT op, StringRef x, StringRef y) {
  SmallVector<Linearity> linearity{Linearity::Multi, Linearity::None, Linearity::None};
  if (op.getWeights())
    linearity.push_back(Linearity::Multi);
  return FactorRule::parse(op, routeRule(op.getWeights(), x, y)).linear(linearity);
}

/// Both ops: the gradient of x goes the other way, by the same weights; that of the weights is what meets at each
/// place.
template <typename OtherT, typename OpT>
void routeGradient(OpT op, bool fromTokens, OpBuilder &builder, Value dy, const BitVector &needed,
                   MutableArrayRef<Value> operandGrads) {
  if (!dy)
    return;
  if (needed[0])
    operandGrads[0] =
        make<OtherT>(builder, op.getLoc(), op.getX().getType(), dy, op.getSlots(), op.getTokens(), op.getWeights());
  if (op.getWeights() && needed[3])
    operandGrads[3] =
        make<CombineGradOp>(builder, op.getLoc(), op.getWeights().getType(), fromTokens ? dy : Value(op.getX()),
                            fromTokens ? Value(op.getX()) : dy, op.getSlots());
}
} // namespace

// ---- dispatch
LogicalResult DispatchOp::verify() { return verifyRoute(*this, atTokens, atPlaces, /*fromTokens=*/true); }
FactorRule DispatchOp::getFactorRule() { return ruleOf(*this, atTokens, atPlaces); }
void DispatchOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &slots = *operands[1], &tokens = *operands[2];
  Places places(results[0]);
  int64_t length = x.shape[1], top = slots.shape[2], perSequence = tokens.shape[1] * tokens.shape[2];
  for (int64_t i = 0; i < tokens.size(); ++i) {
    int64_t b = i / perSequence, slot = i % perSequence, token = hasPlace(tokens[i]) ? int64_t(tokens[i]) : -1;
    double weight = 1;
    for (int64_t j = 0; operands.size() > 3 && token >= 0 && j < top; ++j)
      if (int64_t at = (b * length + token) * top + j; slots[at] == static_cast<double>(slot))
        weight = (*operands[3])[at];
    for (int64_t h = 0; h < places.width; ++h)
      results[0][places.row(b, slot) + h] = token < 0 ? 0 : weight * x[(b * length + token) * places.width + h];
  }
}
void DispatchOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                               MutableArrayRef<Value> operandGrads) {
  routeGradient<CombineOp>(*this, /*fromTokens=*/true, builder, resultGrads[0], needed, operandGrads);
}

// ---- combine
LogicalResult CombineOp::verify() { return verifyRoute(*this, atPlaces, atTokens, /*fromTokens=*/false); }
FactorRule CombineOp::getFactorRule() { return ruleOf(*this, atPlaces, atTokens); }
void CombineOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &slots = *operands[1];
  Places places(x);
  HostTensor &y = results[0];
  int64_t length = slots.shape[1], top = slots.shape[2];
  std::fill(y.data.begin(), y.data.end(), 0.0);
  for (int64_t i = 0; i < slots.size(); ++i) {
    if (!hasPlace(slots[i]))
      continue;
    int64_t row = places.row(i / (length * top), static_cast<int64_t>(slots[i]));
    double weight = operands.size() > 3 ? (*operands[3])[i] : 1;
    for (int64_t h = 0; h < places.width; ++h)
      y[i / top * places.width + h] += weight * x[row + h];
  }
}
void CombineOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  routeGradient<DispatchOp>(*this, /*fromTokens=*/false, builder, resultGrads[0], needed, operandGrads);
}

// ---- combine_grad
constexpr StringLiteral combineGradRule = "!e b !c h, b !s h, b !s !k -> b !s !k";

LogicalResult CombineGradOp::verify() {
  return ShapeCheck(*this)
      .floating({{"x", getX()}, {"dy", getDy()}})
      .element({"slots", getSlots()}, i32(*this))
      .widened({"dweights", getDweights()}, {"x", getX()})
      .fits(combineGradRule, "x, dy, slots -> dweights")
      .result();
}
FactorRule CombineGradOp::getFactorRule() {
  return FactorRule::parse(*this, combineGradRule).linear({Linearity::Multi, Linearity::Multi, Linearity::None});
}
void CombineGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &dy = *operands[1], &slots = *operands[2];
  Places places(x);
  int64_t length = slots.shape[1], top = slots.shape[2];
  for (int64_t i = 0; i < slots.size(); ++i) {
    double sum = 0;
    for (int64_t h = 0; hasPlace(slots[i]) && h < places.width; ++h)
      sum += x[places.row(i / (length * top), static_cast<int64_t>(slots[i])) + h] * dy[i / top * places.width + h];
    results[0][i] = sum;
  }
}
