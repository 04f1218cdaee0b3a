// Cross-entropy with a label mask, and the pieces it is taken apart into before sharding: with m = row_max(logits),
// lse = m + log(row_sum_exp(logits, m)), loss = sum over counted rows of lse - pick(logits, labels).
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
#include <limits>
using namespace mlir;
using namespace hocket::nn;

namespace {
constexpr double uncounted = -1; ///< the label of a token that has no part in the loss

double maximum(const HostTensor &x, int64_t begin, int64_t width) {
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t v = 0; v < width; ++v)
    max = std::max(max, x[begin + v]);
  return max;
}

double sumExp(const HostTensor &x, int64_t begin, int64_t width, double max) {
  double sum = 0;
  for (int64_t v = 0; v < width; ++v)
    sum += std::exp(x[begin + v] - max);
  return sum;
}

/// x[row, id - offset], zero outside.
double picked(const HostTensor &x, int64_t row, double id, int64_t offset) {
  int64_t width = x.shape.back(), column = static_cast<int64_t>(id) - offset;
  return column >= 0 && column < width ? x[row * width + column] : 0;
}

IntegerType i32(Operation *op) { return IntegerType::get(op->getContext(), 32); }
FloatType f32(Operation *op) { return Float32Type::get(op->getContext()); }

/// Names of the rows of x, all dimensions but the last; "_" if there are none.
std::string rowsOf(Value x) {
  std::string names = leadingNames(tensorType(x).getRank() - 1);
  return names.empty() ? "_" : names;
}
std::string withColumns(Value x, StringRef column) {
  return joinNames(leadingNames(tensorType(x).getRank() - 1), column);
}
} // namespace

// ---- cross_entropy --------------------------------------------------------------------------------------------------
static StringRef crossEntropyRule(CrossEntropyOp op) {
  return op.getLse() ? "b s !v, b s -> _, _, b s" : "b s !v, b s -> _, _";
}

LogicalResult CrossEntropyOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"logits", getLogits()}})
      .element({"labels", getLabels()}, i32(*this))
      .element({"sum", getSum()}, f32(*this))
      .element({"count", getCount()}, IntegerType::get(getContext(), 64));
  if (getLse())
    check.element({"lse", getLse()}, f32(*this));
  return check.fits(crossEntropyRule(*this), "logits, labels -> sum, count, lse").result();
}

FactorRule CrossEntropyOp::getFactorRule() { return FactorRule::parse(*this, crossEntropyRule(*this)); }

void CrossEntropyOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &logits = *operands[0], &labels = *operands[1];
  int64_t width = logits.shape.back();
  double sum = 0, count = 0;
  for (int64_t row = 0; row < labels.size(); ++row) {
    double max = maximum(logits, row * width, width);
    double lse = max + std::log(sumExp(logits, row * width, width, max));
    if (results.size() > 2)
      results[2][row] = lse;
    if (labels[row] == uncounted)
      continue;
    sum += lse - picked(logits, row, labels[row], 0);
    count += 1;
  }
  results[0][0] = sum;
  results[1][0] = count;
}

/// The op with its log-sum-exp kept: itself, or a new one in its place (the old one is erased).
static CrossEntropyOp withLogSumExp(CrossEntropyOp op) {
  if (op.getLse())
    return op;
  OpBuilder builder(op);
  auto type = RankedTensorType::get(tensorType(op.getLabels()).getShape(), builder.getF32Type());
  auto kept = CrossEntropyOp::create(builder, op.getLoc(), op.getSum().getType(), op.getCount().getType(), type,
                                     op.getLogits(), op.getLabels(), op.getPathAttr(), op.getPhaseAttr(), ArrayAttr());
  op->replaceAllUsesWith(kept->getResults().take_front(2));
  op.erase();
  return kept;
}

void CrossEntropyOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                   MutableArrayRef<Value> operandGrads) {
  Value dsum = resultGrads[0];
  if (!needed[0] || !dsum)
    return;
  CrossEntropyOp forward = withLogSumExp(*this);
  operandGrads[0] = make<CrossEntropyGradOp>(builder, forward.getLoc(), forward.getLogits().getType(), dsum,
                                             forward.getLogits(), forward.getLabels(), forward.getLse(), Value());
}

// ---- cross_entropy_grad ---------------------------------------------------------------------------------------------
static std::string crossEntropyGradRule(CrossEntropyGradOp op) {
  return "_, b s @v, b s, b s" + offsetTerm(op.getOffset()).str() + " -> b s @v";
}

LogicalResult CrossEntropyGradOp::verify() {
  return ShapeCheck(*this)
      .element({"dsum", getDsum()}, f32(*this))
      .floating({{"logits", getLogits()}, {"dlogits", getDlogits()}})
      .element({"labels", getLabels()}, i32(*this))
      .element({"lse", getLse()}, f32(*this))
      .fits(crossEntropyGradRule(*this), "dsum, logits, labels, lse, offset -> dlogits")
      .result();
}

FactorRule CrossEntropyGradOp::getFactorRule() {
  SmallVector<Linearity> linearity(getNumOperands(), Linearity::None);
  linearity[0] = Linearity::Multi;
  return FactorRule::parse(*this, crossEntropyGradRule(*this)).linear(linearity);
}

void CrossEntropyGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &logits = *operands[1], &labels = *operands[2], &lse = *operands[3];
  HostTensor &dlogits = results[0];
  int64_t width = logits.shape.back(), offset = offsetAmong(operands, 4);
  double dsum = (*operands[0])[0];
  for (int64_t row = 0; row < labels.size(); ++row)
    for (int64_t v = 0; v < width; ++v) {
      double label = labels[row] == static_cast<double>(v + offset) ? 1 : 0;
      double &out = dlogits[row * width + v];
      out = labels[row] == uncounted ? 0 : dsum * (std::exp(logits[row * width + v] - lse[row]) - label);
    }
}

// ---- row_max, row_sum_exp -------------------------------------------------------------------------------------------
LogicalResult RowMaxOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}}).widened({"y", getY()}, {"x", getX()});
  if (check.rank({"x", getX()}, 1))
    check.fits(withColumns(getX(), "v") + " -> " + rowsOf(getX()), "x -> y");
  return check.result();
}
FactorRule RowMaxOp::getFactorRule() {
  return FactorRule::parse(*this, withColumns(getX(), "v") + " -> " + rowsOf(getX())).reducedBy(ReductionKind::Max);
}
void RowMaxOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  int64_t width = operands[0]->shape.back();
  for (int64_t row = 0; row < results[0].size(); ++row)
    results[0][row] = maximum(*operands[0], row * width, width);
}

static std::string rowSumExpRule(RowSumExpOp op) {
  std::string rows = rowsOf(op.getX());
  return withColumns(op.getX(), "v") + ", " + rows + " -> " + rows;
}
LogicalResult RowSumExpOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}}).widened({"max", getMax()}, {"x", getX()}).widened({"y", getY()}, {"x", getX()});
  if (check.rank({"x", getX()}, 1))
    check.fits(rowSumExpRule(*this), "x, max -> y");
  return check.result();
}
FactorRule RowSumExpOp::getFactorRule() {
  return FactorRule::parse(*this, rowSumExpRule(*this)).padded(-std::numeric_limits<double>::infinity());
}
void RowSumExpOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  int64_t width = operands[0]->shape.back();
  for (int64_t row = 0; row < results[0].size(); ++row)
    results[0][row] = sumExp(*operands[0], row * width, width, (*operands[1])[row]);
}

// ---- pick, count_tokens ---------------------------------------------------------------------------------------------
static std::string pickRule(PickOp op) {
  std::string rows = rowsOf(op.getX());
  return withColumns(op.getX(), "@v") + ", " + rows + offsetTerm(op.getOffset()).str() + " -> " + rows;
}
LogicalResult PickOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}}).widened({"y", getY()}, {"x", getX()}).element({"ids", getIds()}, i32(*this));
  if (check.rank({"x", getX()}, 1))
    check.fits(pickRule(*this), "x, ids, offset -> y");
  return check.result();
}
FactorRule PickOp::getFactorRule() {
  SmallVector<Linearity> linearity(getNumOperands(), Linearity::None);
  linearity[0] = Linearity::Multi;
  return FactorRule::parse(*this, pickRule(*this)).linear(linearity);
}
void PickOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &ids = *operands[1];
  for (int64_t row = 0; row < ids.size(); ++row)
    results[0][row] = picked(*operands[0], row, ids[row], offsetAmong(operands, 2));
}

static std::string countRule(CountTokensOp op) {
  int64_t rank = tensorType(op.getLabels()).getRank();
  return (rank == 0 ? "_" : factorNames("d", rank)) + " -> _";
}
LogicalResult CountTokensOp::verify() {
  return ShapeCheck(*this)
      .element({"labels", getLabels()}, i32(*this))
      .element({"count", getCount()}, IntegerType::get(getContext(), 64))
      .fits(countRule(*this), "labels -> count")
      .result();
}
FactorRule CountTokensOp::getFactorRule() { return FactorRule::parse(*this, countRule(*this)); }
void CountTokensOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  results[0][0] = static_cast<double>(llvm::count_if(operands[0]->data, [](double id) { return id != uncounted; }));
}
