// Routers of mixtures of experts: logits, the choice of experts, and the derivative of the weights and of the load.
#include "dialect/NN/Router.h"
#include "dialect/NN/ScalarGradient.h"
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
#include <numeric>
using namespace mlir;
using namespace hocket::nn;

SmallVector<int64_t> hocket::nn::greatest(const double *numbers, int64_t count, int64_t top) {
  SmallVector<int64_t> chosen;
  while (static_cast<int64_t>(chosen.size()) < top) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; ++i)
      if (!llvm::is_contained(chosen, i) && (best < 0 || numbers[i] > numbers[best]))
        best = i;
    chosen.push_back(best);
  }
  return chosen;
}

double hocket::nn::routerMargin(const HostTensor &logits, int64_t top) {
  double margin = std::numeric_limits<double>::infinity();
  int64_t experts = logits.shape.back();
  for (int64_t begin = 0; top < experts && begin < logits.size(); begin += experts) {
    SmallVector<int64_t> order = greatest(&logits.data[begin], experts, top + 1);
    margin = std::min(margin, logits[begin + order[top - 1]] - logits[begin + order[top]]);
  }
  return margin;
}

int64_t hocket::nn::expertCapacity(int64_t top, int64_t tokens, double factor, int64_t experts) {
  double exact = static_cast<double>(top * tokens) * factor / static_cast<double>(experts);
  return static_cast<int64_t>(std::ceil(exact * (1 - 1e-12)));
}

namespace {
IntegerType i32(Operation *op) { return IntegerType::get(op->getContext(), 32); }
FloatType f32(Operation *op) { return Float32Type::get(op->getContext()); }

/// What a router is beside its operands.
struct RouterOptions {
  int64_t top;
  bool sigmoid, normalized;
  double scale, balance;

  template <typename OpT>
  explicit RouterOptions(OpT op)
      : top(op.getTopAttr().getInt()), sigmoid(op.getScores() == ScoreKind::Sigmoid), normalized(op.getNormalized()),
        scale(op.getScale().convertToDouble()), balance(op.getBalance().convertToDouble()) {}
};

/// One token: its experts in order of choice, the score of each expert, and the two sums that weights and shares divide
/// by.
struct Routed {
  SmallVector<int64_t> experts;
  std::vector<double> scores;
  double chosen = 0, all = 0; ///< sums of scores

  Routed(const double *logits, int64_t count, const RouterOptions &options)
      : experts(greatest(logits, count, options.top)), scores(static_cast<size_t>(count)) {
    double max = *std::max_element(logits, logits + count), sum = 0;
    for (int64_t e = 0; e < count; ++e)
      sum += scores[e] = options.sigmoid ? 1 / (1 + std::exp(-logits[e])) : std::exp(logits[e] - max);
    for (double &score : scores)
      all += options.sigmoid ? score : score /= sum;
    for (int64_t e : experts)
      chosen += scores[e];
  }
  double share(int64_t e) const { return scores[e] / all; }
};

/// The part of a sequence's choices that is each expert's.
std::vector<double> loads(const double *logits, int64_t tokens, int64_t experts, const RouterOptions &options) {
  std::vector<double> part(static_cast<size_t>(experts));
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t e : greatest(logits + t * experts, experts, options.top))
      part[e] += 1 / static_cast<double>(tokens * options.top);
  return part;
}

/// Tokens by position.
std::vector<int64_t> inOrder(const double *positions, int64_t tokens) {
  std::vector<int64_t> order(static_cast<size_t>(tokens));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return positions[a] < positions[b]; });
  return order;
}

/// top, and the numbers of the recipe, within what is possible.
void checkOptions(ShapeCheck &check, const RouterOptions &options, Value logits) {
  int64_t experts = tensorType(logits).getRank() ? tensorType(logits).getShape().back() : 1;
  if (options.top < 1 || options.top > experts)
    check.fault() << "top is " << options.top << ", expected 1 to " << experts << ", the number of experts";
  if (!(options.scale > 0) || !std::isfinite(options.scale))
    check.fault() << "scale is " << realText(options.scale) << ", expected above 0";
  if (!(options.balance >= 0) || !std::isfinite(options.balance))
    check.fault() << "balance is " << realText(options.balance) << ", expected at least 0";
}
void checkTop(ShapeCheck &check, StringRef name, Value value, int64_t top) {
  RankedTensorType type = tensorType(value);
  if (type.getRank() == 3 && type.getDimSize(2) != top)
    check.fault() << "dimension 2 of " << name << " is " << type.getDimSize(2) << ", expected " << top << " (top)";
}
} // namespace

// ---- router_logits
constexpr StringLiteral logitsRule = "b s !h, !h e -> b s e";

LogicalResult RouterLogitsOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}, {"w", getW()}}).element({"y", getY()}, f32(*this));
  return check.fits(logitsRule, "x, w -> y").result();
}
/// Splitting e would only move columns, but the router that reads them needs all: where e is split the weight is
/// gathered.
FactorRule RouterLogitsOp::getFactorRule() {
  return FactorRule::parse(*this, "b s !h, !h !e -> b s !e").linear({Linearity::Multi, Linearity::Multi});
}
void RouterLogitsOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &w = *operands[1];
  int64_t depth = w.shape[0], experts = w.shape[1];
  for (int64_t i = 0; i < results[0].size(); ++i) {
    double sum = 0;
    for (int64_t h = 0; h < depth; ++h)
      sum += x[i / experts * depth + h] * w[h * experts + i % experts];
    results[0][i] = sum;
  }
}
int64_t RouterLogitsOp::getFlops() {
  return 2 * tensorType(getY()).getNumElements() * tensorType(getW()).getDimSize(0);
}
void RouterLogitsOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                   MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (dy && needed[0])
    operandGrads[0] =
        make<MatmulOp>(builder, getLoc(), getX().getType(), dy, getW(), builder.getStringAttr("b s e, h e -> b s h"));
  if (dy && needed[1])
    operandGrads[1] =
        make<MatmulOp>(builder, getLoc(), getW().getType(), getX(), dy, builder.getStringAttr("b s h, b s e -> h e"));
}

// ---- router
LogicalResult RouterOp::verify() {
  ShapeCheck check(*this);
  check.element({"logits", getLogits()}, f32(*this))
      .element({"positions", getPositions()}, i32(*this))
      .element({"weights", getWeights()}, f32(*this))
      .element({"slots", getSlots()}, i32(*this))
      .element({"tokens", getTokens()}, i32(*this))
      .element({"load", getLoad()}, f32(*this))
      .fits("b s e, b s -> b s k, b s k, b e c, b", "logits, positions -> weights, slots, tokens, load");
  RouterOptions options(*this);
  checkOptions(check, options, getLogits());
  checkTop(check, "weights", getWeights(), options.top);
  RankedTensorType tokens = tensorType(getTokens());
  if (tokens.getRank() == 3 && tokens.getDimSize(2) < 1)
    check.fault() << "dimension 2 of tokens is " << tokens.getDimSize(2)
                  << ", expected at least 1, the tokens of a sequence that an expert takes";
  return check.result();
}
FactorRule RouterOp::getFactorRule() {
  return FactorRule::parse(*this, "b !s !e, b !s -> b !s !k, b !s !k, b !n !c, b");
}
void RouterOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &logits = *operands[0], &positions = *operands[1];
  HostTensor &weights = results[0], &slots = results[1], &tokens = results[2];
  RouterOptions options(*this);
  int64_t length = logits.shape[1], experts = logits.shape[2], capacity = tokens.shape[2];
  std::fill(tokens.data.begin(), tokens.data.end(), -1.0);
  for (int64_t b = 0; b < logits.shape[0]; ++b) {
    const double *sequence = &logits.data[b * length * experts];
    std::vector<int64_t> taken(static_cast<size_t>(experts));
    std::vector<double> part = loads(sequence, length, experts, options);
    results[3][b] = 0;
    for (int64_t t : inOrder(&positions.data[b * length], length)) {
      Routed routed(sequence + t * experts, experts, options);
      for (int64_t e = 0; e < experts; ++e)
        results[3][b] += options.balance * static_cast<double>(experts) * part[e] * routed.share(e);
      for (auto [j, e] : llvm::enumerate(routed.experts)) {
        int64_t at = (b * length + t) * options.top + static_cast<int64_t>(j), place = taken[e]++;
        weights[at] = options.scale * routed.scores[e] / (options.normalized ? routed.chosen : 1);
        slots[at] = place < capacity ? static_cast<double>(e * capacity + place) : -1;
        if (place < capacity)
          tokens[(b * experts + e) * capacity + place] = static_cast<double>(t);
      }
    }
  }
}
void RouterOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                             MutableArrayRef<Value> operandGrads) {
  Value dweights = resultGrads[0], dload = getBalance().isZero() ? Value() : resultGrads[3];
  if (!needed[0] || (!dweights && !dload))
    return;
  if (!dweights)
    dweights = buildZeros(builder, getLoc(), getWeights());
  operandGrads[0] =
      make<RouterGradOp>(builder, getLoc(), getLogits().getType(), dweights, getLogits(), dload, getTopAttr(),
                         getScoresAttr(), getNormalizedAttr(), getScaleAttr(), getBalanceAttr());
}

// ---- router_grad
static std::string routerGradRule(RouterGradOp op) {
  return "b !s !k, b !s !e" + std::string(op.getDload() ? ", b" : "") + " -> b !s !e";
}
LogicalResult RouterGradOp::verify() {
  ShapeCheck check(*this);
  check.element({"dweights", getDweights()}, f32(*this)).element({"logits", getLogits()}, f32(*this));
  if (getDload())
    check.element({"dload", getDload()}, f32(*this));
  check.element({"dlogits", getDlogits()}, f32(*this))
      .fits(routerGradRule(*this), "dweights, logits, dload -> dlogits");
  RouterOptions options(*this);
  checkOptions(check, options, getLogits());
  checkTop(check, "dweights", getDweights(), options.top);
  return check.result();
}
FactorRule RouterGradOp::getFactorRule() { return FactorRule::parse(*this, routerGradRule(*this)); }

/// With p the scores, a their sum and q = p / a: dp = what the weights give to the chosen ones, plus (dq - sum q dq) /
/// a. For softmax dlogit = p (dp - sum p dp), for sigmoid p (1 - p) dp.
void RouterGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &dweights = *operands[0], &logits = *operands[1];
  RouterOptions options(*this);
  int64_t length = logits.shape[1], experts = logits.shape[2];
  for (int64_t b = 0; b < logits.shape[0]; ++b) {
    const double *sequence = &logits.data[b * length * experts];
    double dload = operands.size() > 2 ? (*operands[2])[b] : 0;
    std::vector<double> part = loads(sequence, length, experts, options), dscores(part.size());
    for (int64_t t = 0; t < length; ++t) {
      Routed routed(sequence + t * experts, experts, options);
      const double *dw = &dweights.data[(b * length + t) * options.top];
      double mean = 0, shared = 0, inner = 0;
      for (auto [j, e] : llvm::enumerate(routed.experts))
        mean += options.normalized ? dw[j] * routed.scores[e] / routed.chosen : 0;
      for (int64_t e = 0; e < experts; ++e)
        shared += routed.share(e) * part[e];
      for (int64_t e = 0; e < experts; ++e)
        dscores[e] = dload * options.balance * static_cast<double>(experts) * (part[e] - shared) / routed.all;
      for (auto [j, e] : llvm::enumerate(routed.experts))
        dscores[e] += options.scale * (dw[j] - mean) / (options.normalized ? routed.chosen : 1);
      for (int64_t e = 0; e < experts; ++e)
        inner += options.sigmoid ? 0 : routed.scores[e] * dscores[e];
      for (int64_t e = 0; e < experts; ++e)
        results[0][(b * length + t) * experts + e] =
            routed.scores[e] * (options.sigmoid ? (1 - routed.scores[e]) * dscores[e] : dscores[e] - inner);
    }
  }
}
