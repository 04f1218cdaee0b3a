// Positions, and rows of a table by their number.
#include "dialect/NN/ShapeCheck.h"
using namespace mlir;
using namespace hocket::nn;

namespace {
/// "b s" for ids [b, s]; a scalar is "_".
std::string idTerm(Value ids) {
  std::string names = leadingNames(tensorType(ids).getRank());
  return names.empty() ? "_" : names;
}
std::string rowTerm(Value ids) { return joinNames(leadingNames(tensorType(ids).getRank()), "h"); }
} // namespace

// ---- positions ------------------------------------------------------------------------------------------------------
LogicalResult PositionsOp::verify() {
  ShapeCheck check(*this);
  if (getZigzag()) {
    int64_t ranks = getZigzagAttr().getInt(), sequence = getSequenceAttr() ? getSequenceAttr().getInt() : 0;
    if (ranks < 1)
      check.fault() << "is in zigzag over " << ranks << " ranks, expected at least 1";
    else if (sequence < 1 || sequence % (2 * ranks) != 0)
      check.fault() << "is in zigzag of " << sequence << " tokens over " << ranks << " ranks, expected a multiple of "
                    << 2 * ranks << " tokens";
  }
  return check.element({"y", getY()}, IntegerType::get(getContext(), 32))
      .fits(getOffset() ? "_ -> b s" : "-> b s", "offset -> y")
      .result();
}

FactorRule PositionsOp::getFactorRule() { return FactorRule::parse(*this, getOffset() ? "_ -> b @s" : "-> b @s"); }

void PositionsOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  int64_t length = y.shape[1], offset = offsetAmong(operands, 0);
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<double>(getZigzag() ? zigzagToken(i % length + offset, *getSequence(), *getZigzag())
                                           : i % length + offset);
}

int64_t hocket::nn::zigzagToken(int64_t place, int64_t sequence, int64_t ranks) {
  int64_t length = sequence / (2 * ranks), chunk = place / length, rank = chunk / 2;
  return (chunk % 2 == 0 ? rank : 2 * ranks - 1 - rank) * length + place % length;
}

// ---- embedding ------------------------------------------------------------------------------------------------------
static std::string embeddingRule(EmbeddingOp op) {
  return idTerm(op.getIds()) + ", @v h" + offsetTerm(op.getOffset()).str() + " -> " + rowTerm(op.getIds());
}

LogicalResult EmbeddingOp::verify() {
  return ShapeCheck(*this)
      .element({"ids", getIds()}, IntegerType::get(getContext(), 32))
      .floating({{"table", getTable()}, {"y", getY()}})
      .fits(embeddingRule(*this), "ids, table, offset -> y")
      .result();
}

FactorRule EmbeddingOp::getFactorRule() {
  SmallVector<Linearity> linearity{Linearity::None, Linearity::Multi};
  linearity.resize(getNumOperands(), Linearity::None);
  return FactorRule::parse(*this, embeddingRule(*this)).linear(linearity);
}

void EmbeddingOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &ids = *operands[0], &table = *operands[1];
  HostTensor &y = results[0];
  int64_t rows = table.shape[0], width = table.shape[1], offset = offsetAmong(operands, 2);
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t row = static_cast<int64_t>(ids[i]) - offset;
    bool inside = row >= 0 && row < rows;
    for (int64_t h = 0; h < width; ++h)
      y[i * width + h] = inside ? table[row * width + h] : 0;
  }
}

void EmbeddingOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                MutableArrayRef<Value> operandGrads) {
  if (needed[1] && resultGrads[0])
    operandGrads[1] =
        make<EmbeddingGradOp>(builder, getLoc(), getTable().getType(), getIds(), resultGrads[0], getOffset());
}

// ---- embedding_grad -------------------------------------------------------------------------------------------------
static std::string embeddingGradRule(EmbeddingGradOp op) {
  return idTerm(op.getIds()) + ", " + rowTerm(op.getIds()) + offsetTerm(op.getOffset()).str() + " -> @v h";
}

LogicalResult EmbeddingGradOp::verify() {
  return ShapeCheck(*this)
      .element({"ids", getIds()}, IntegerType::get(getContext(), 32))
      .floating({{"dy", getDy()}})
      .widened({"dtable", getDtable()}, {"dy", getDy()})
      .fits(embeddingGradRule(*this), "ids, dy, offset -> dtable")
      .result();
}

FactorRule EmbeddingGradOp::getFactorRule() {
  SmallVector<Linearity> linearity{Linearity::None, Linearity::Multi};
  linearity.resize(getNumOperands(), Linearity::None);
  return FactorRule::parse(*this, embeddingGradRule(*this)).linear(linearity);
}

void EmbeddingGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &ids = *operands[0], &dy = *operands[1];
  HostTensor &dtable = results[0];
  int64_t rows = dtable.shape[0], width = dtable.shape[1], offset = offsetAmong(operands, 2);
  std::fill(dtable.data.begin(), dtable.data.end(), 0.0);
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t row = static_cast<int64_t>(ids[i]) - offset;
    if (row < 0 || row >= rows)
      continue;
    for (int64_t h = 0; h < width; ++h)
      dtable[row * width + h] += dy[i * width + h];
  }
}
