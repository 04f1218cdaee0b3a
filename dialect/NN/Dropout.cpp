// Dropout (Srivastava et al. 2014) with a mask that is a function of counters (Random.h).
#include "dialect/NN/Random.h"
#include "dialect/NN/ShapeCheck.h"
#include <numeric>
using namespace mlir;
using namespace hocket::nn;

/// "b s @f2 @f3": what lies behind b and s needs its offset.
static std::string elementTerm(int64_t rank) {
  std::string term = "b s";
  for (int64_t dim = 2; dim < rank; ++dim)
    term += " @f" + std::to_string(dim);
  return term;
}

static std::string dropoutRule(DropoutOp op) {
  std::string x = elementTerm(tensorType(op.getX()).getRank()), rule = x + ", b s";
  if (op.getDraws())
    rule += ", b";
  for (size_t i = 0; i < op.getOffsets().size() + (op.getNumber() ? 1 : 0); ++i)
    rule += ", _";
  return rule + " -> " + x;
}

static void verifyOffsets(DropoutOp op, ShapeCheck &check, int64_t rank) {
  ArrayRef<int64_t> dims = op.getOffsetDims().value_or(ArrayRef<int64_t>());
  if (dims.size() != op.getOffsets().size())
    check.fault() << "has " << op.getOffsets().size() << " offsets for " << dims.size() << " dimensions";
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 2 || dim >= rank)
      check.fault() << "has an offset in dimension " << dim << " of x, expected 2 to " << rank - 1;
    if (llvm::is_contained(dims.take_front(i), dim))
      check.fault() << "has two offsets in dimension " << dim << " of x";
  }
}

static void verifyDraws(DropoutOp op, ShapeCheck &check) {
  ArrayRef<int64_t> sizes = tensorType(op.getX()).getShape().drop_front(2);
  ArrayRef<int64_t> extents = op.getExtents().value_or(ArrayRef<int64_t>());
  if (!op.getStream() && !op.getNumber())
    check.fault() << "has draws but no stream that tells it from other dropouts";
  if (extents.size() != sizes.size()) {
    check.fault() << "has " << extents.size() << " extents, expected " << sizes.size()
                  << ": one for each dimension of x behind the first two";
    return;
  }
  for (auto [i, pair] : llvm::enumerate(llvm::zip(sizes, extents)))
    if (auto [size, extent] = pair; size > extent)
      check.fault() << "is of " << extent << " elements in dimension " << i + 2 << ", but x has " << size;
  double elements = std::accumulate(extents.begin(), extents.end(), 1.0, std::multiplies<>());
  if (elements > 4294967296.0)
    check.fault() << "has " << realText(elements) << " features a token, expected at most 2^32";
}

LogicalResult DropoutOp::verify() {
  ShapeCheck check(*this);
  Type i32 = IntegerType::get(getContext(), 32);
  check.floating({{"x", getX()}, {"y", getY()}}).element({"positions", getPositions()}, i32);
  if (getDraws())
    check.element({"draws", getDraws()}, i32);
  if (double rate = getRate().convertToDouble(); !(rate >= 0 && rate < 1))
    check.fault() << "rate is " << realText(rate) << ", expected at least 0 and less than 1";
  if (getStream() && getNumber())
    check.fault() << "has a stream and the number of one; only one of both";
  if (!check.rank({"x", getX()}, 2))
    return failure();
  int64_t rank = tensorType(getX()).getRank();
  verifyOffsets(*this, check, rank);
  if (getDraws())
    verifyDraws(*this, check);
  else if (getStream() || getNumber() || getExtents() || !getOffsets().empty())
    check.fault() << "has a stream, extents or offsets but no draws";
  return check.fits(dropoutRule(*this), getDraws() ? "x, positions, draws -> y" : "x, positions -> y").result();
}

FactorRule DropoutOp::getFactorRule() {
  SmallVector<Linearity> linearity{Linearity::Multi};
  linearity.resize(getNumOperands(), Linearity::None);
  return FactorRule::parse(*this, dropoutRule(*this)).linear(linearity);
}

void DropoutOp::setOffsetOperand(int64_t factor, Value offset) {
  SmallVector<int64_t> dims(getOffsetDims().value_or(ArrayRef<int64_t>()));
  dims.push_back(factor); // the factors are those of x, in the order of its dimensions
  getOffsetsMutable().append(offset);
  setOffsetDims(dims);
}

int64_t DropoutOp::getOffsetFactor(unsigned operand) {
  ArrayRef<int64_t> dims = getOffsetDims().value_or(ArrayRef<int64_t>());
  unsigned first = getODSOperandIndexAndLength(4).first;
  return operand >= first && operand - first < dims.size() ? dims[operand - first] : -1;
}

namespace {
/// Where an element of a shard of x stands among all features of its token.
struct Features {
  ArrayRef<int64_t> sizes, extents; ///< of the shard and of the whole, behind b and s
  SmallVector<int64_t> begin;       ///< of the shard

  int64_t global(int64_t local) const {
    int64_t index = 0, stride = 1;
    for (size_t i = sizes.size(); i-- > 0; local /= sizes[i], stride *= extents[i])
      index += (local % sizes[i] + begin[i]) * stride;
    return index;
  }
};
uint32_t word(double integer) { return static_cast<uint32_t>(static_cast<int64_t>(integer)); }
} // namespace

void DropoutOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &positions = *operands[1];
  HostTensor &y = results[0];
  if (!getDraws()) {
    y.data = x.data;
    return;
  }
  const HostTensor &draws = *operands[2];
  uint32_t stream = getStream() ? streamNumber(*getStream()) : word((*operands[3])[0]);
  Features features{ArrayRef(x.shape).drop_front(2), *getExtents(), SmallVector<int64_t>(x.rank() - 2, 0)};
  size_t first = getStream() ? 3 : 4;
  for (auto [i, dim] : llvm::enumerate(getOffsetDims().value_or(ArrayRef<int64_t>())))
    features.begin[dim - 2] = static_cast<int64_t>((*operands[first + i])[0]);
  int64_t inner = x.extent(2, x.rank()), sequence = x.shape[1];
  uint32_t bound = keepBound(getRate().convertToDouble());
  double scale = 1 / (1 - getRate().convertToDouble());
  for (int64_t token = 0; token < x.shape[0] * sequence; ++token) {
    uint32_t draw = word(draws[token / sequence]), key = philox2x32(draw, 0, stream);
    for (int64_t i = 0; i < inner; ++i) {
      auto feature = static_cast<uint32_t>(features.global(i));
      bool kept = philox2x32(feature, word(positions[token]), key) <= bound;
      int64_t at = token * inner + i;
      y[at] = draw == 0 ? x[at] : kept ? x[at] * scale : 0;
    }
  }
}

void DropoutOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0]) // the same mask, from the same counters
    operandGrads[0] =
        make<DropoutOp>(builder, getLoc(), getX().getType(), resultGrads[0], getPositions(), getRateAttr(), getDraws(),
                        getStreamAttr(), getNumber(), getExtentsAttr(), getOffsets(), getOffsetDimsAttr());
}
