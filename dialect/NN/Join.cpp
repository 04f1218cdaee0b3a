// Ops that join and cut along a dimension, or repeat along a new one: concat, part and pad, spread and
// sum_over. What one does another undoes in the backward.
#include "dialect/NN/ShapeCheck.h"
using namespace mlir;
using namespace hocket::nn;

namespace {
/// "d0 d1 NAME d3": the dimensions of a tensor of `rank`, the one at `dim` by a name of its own.
std::string term(int64_t rank, int64_t dim, StringRef name) {
  return joinNames(joinNames(factorNames("d", dim), name), factorNames("d", rank - dim - 1, dim + 1));
}
/// The same without the dimension at `dim`.
std::string termWithout(int64_t rank, int64_t dim) {
  std::string names = joinNames(factorNames("d", dim), factorNames("d", rank - dim - 1, dim + 1));
  return names.empty() ? "_" : names;
}

bool isDimension(ShapeCheck &check, ShapeCheck::Named of, int64_t dim) {
  int64_t rank = tensorType(of.value).getRank();
  if (dim >= 0 && dim < rank)
    return true;
  check.fault() << "dim is " << dim << ", expected 0 to " << rank - 1 << " (" << of.name << " has " << rank
                << (rank == 1 ? " dimension)" : " dimensions)");
  return false;
}

/// Shared by part and pad: `piece` lies in `all` from element `from` of `dim` on. False where no more can be compared.
bool verifyPiece(ShapeCheck &check, ShapeCheck::Named all, ShapeCheck::Named piece, int64_t dim, int64_t from,
                 StringRef verb) {
  RankedTensorType large = tensorType(all.value), small = tensorType(piece.value);
  check.element(piece, large.getElementType(), "that of " + all.name.str());
  if (!isDimension(check, all, dim) ||
      !check.rank(piece, large.getRank(), large.getRank(), "the rank of " + all.name.str()))
    return false;
  int64_t size = large.getDimSize(static_cast<unsigned>(dim)), taken = small.getDimSize(static_cast<unsigned>(dim));
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(taken))
    check.fault() << "dimension " << dim << " is ?, expected known sizes";
  else if (from < 0 || from + taken > size)
    check.fault() << verb << " elements " << from << " to " << from + taken << " of dimension " << dim << " of "
                  << all.name << ", which has " << size;
  return true;
}

/// Copies [outer, size, inner] of `small` to or from the elements that begin at `from` in `large`.
template <typename Fn>
void forPiece(const HostTensor &large, const HostTensor &small, int64_t dim, int64_t from, Fn move) {
  int64_t inner = large.extent(dim + 1, large.rank()), all = large.shape[dim] * inner, piece = small.shape[dim] * inner;
  for (int64_t i = 0; i < small.size(); ++i)
    move(i / piece * all + from * inner + i % piece, i);
}
} // namespace

// ---- concat
static std::string concatRule(ConcatOp op) {
  int64_t rank = tensorType(op.getY()).getRank(), dim = op.getDimAttr().getInt();
  std::string rule;
  for (size_t i = 0; i < op.getXs().size(); ++i)
    rule += (i ? ", " : "") + term(rank, dim, "!c" + std::to_string(i));
  return rule + " -> " + term(rank, dim, "!c");
}

LogicalResult ConcatOp::verify() {
  ShapeCheck check(*this);
  int64_t dim = getDimAttr().getInt(), size = 0;
  if (getXs().empty()) {
    check.fault() << "joins nothing; at least one tensor is needed";
    return failure();
  }
  if (!isDimension(check, {"y", getY()}, dim))
    return failure();
  RankedTensorType type = getY().getType();
  for (auto [i, x] : llvm::enumerate(getXs())) {
    std::string name = "operand " + std::to_string(i);
    check.element({name, x}, type.getElementType(), "that of y");
    if (!check.rank({name, x}, type.getRank(), type.getRank(), "the rank of y"))
      return failure();
    int64_t each = tensorType(x).getDimSize(static_cast<unsigned>(dim));
    size = ShapedType::isDynamic(each) || ShapedType::isDynamic(size) ? ShapedType::kDynamic : size + each;
  }
  if (ShapedType::isDynamic(size) || type.isDynamicDim(static_cast<unsigned>(dim)))
    check.fault() << "dimension " << dim << " is ?, expected known sizes";
  else if (size != type.getDimSize(static_cast<unsigned>(dim)))
    check.fault() << "dimension " << dim << " of y is " << type.getDimSize(static_cast<unsigned>(dim)) << ", expected "
                  << size << ", the sum of those of the operands";
  std::string names;
  for (size_t i = 0; i < getXs().size(); ++i)
    names += (i ? ", operand " : "operand ") + std::to_string(i);
  return check.fits(concatRule(*this), names + " -> y").result();
}

FactorRule ConcatOp::getFactorRule() {
  return FactorRule::parse(*this, concatRule(*this)).linear(SmallVector<Linearity>(getNumOperands(), Linearity::Joint));
}

void ConcatOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  int64_t from = 0, dim = getDimAttr().getInt();
  for (const HostTensor *x : operands) {
    forPiece(y, *x, dim, from, [&](int64_t of, int64_t at) { y[of] = (*x)[at]; });
    from += x->shape[dim];
  }
}

void ConcatOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                             MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0])
    return;
  int64_t from = 0;
  for (auto [i, x] : llvm::enumerate(getXs())) {
    if (needed[i])
      operandGrads[i] =
          make<PartOp>(builder, getLoc(), x.getType(), resultGrads[0], getDimAttr(), builder.getI64IntegerAttr(from));
    from += tensorType(x).getDimSize(static_cast<unsigned>(getDimAttr().getInt()));
  }
}

// ---- part
static std::string partRule(PartOp op) {
  int64_t rank = tensorType(op.getX()).getRank(), dim = op.getDimAttr().getInt();
  return term(rank, dim, "!c") + " -> " + term(rank, dim, "!p");
}

LogicalResult PartOp::verify() {
  ShapeCheck check(*this);
  if (verifyPiece(check, {"x", getX()}, {"y", getY()}, getDimAttr().getInt(), getFromAttr().getInt(), "takes"))
    check.fits(partRule(*this), "x -> y");
  return check.result();
}

FactorRule PartOp::getFactorRule() { return FactorRule::parse(*this, partRule(*this)).linear({Linearity::Joint}); }

void PartOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  forPiece(*operands[0], y, getDimAttr().getInt(), getFromAttr().getInt(),
           [&](int64_t of, int64_t at) { y[at] = (*operands[0])[of]; });
}

void PartOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                           MutableArrayRef<Value> operandGrads) {
  if (!needed[0] || !resultGrads[0])
    return;
  operandGrads[0] = make<PadOp>(builder, getLoc(), getX().getType(), resultGrads[0], getDimAttr(), getFromAttr());
}

// ---- pad
static std::string padRule(PadOp op) {
  int64_t rank = tensorType(op.getX()).getRank(), dim = op.getDimAttr().getInt();
  return term(rank, dim, "!p") + " -> " + term(rank, dim, "!c");
}

LogicalResult PadOp::verify() {
  ShapeCheck check(*this);
  int64_t dim = getDimAttr().getInt();
  if (verifyPiece(check, {"y", getY()}, {"x", getX()}, dim, getFromAttr().getInt(), "puts"))
    check.fits(padRule(*this), "x -> y");
  return check.result();
}

FactorRule PadOp::getFactorRule() { return FactorRule::parse(*this, padRule(*this)).linear({Linearity::Joint}); }

void PadOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  std::fill(y.data.begin(), y.data.end(), 0.0);
  forPiece(y, *operands[0], getDimAttr().getInt(), getFromAttr().getInt(),
           [&](int64_t of, int64_t at) { y[of] = (*operands[0])[at]; });
}

void PadOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                          MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = make<PartOp>(builder, getLoc(), getX().getType(), resultGrads[0], getDimAttr(), getFromAttr());
}

// ---- spread
static std::string spreadRule(SpreadOp op) {
  int64_t rank = tensorType(op.getY()).getRank(), dim = op.getDimAttr().getInt();
  return termWithout(rank, dim) + " -> " + term(rank, dim, "n");
}

LogicalResult SpreadOp::verify() {
  ShapeCheck check(*this);
  RankedTensorType x = getX().getType(), y = getY().getType();
  check.element({"y", getY()}, x.getElementType(), "that of x");
  int64_t dim = getDimAttr().getInt();
  if (!check.rank({"y", getY()}, x.getRank() + 1, x.getRank() + 1, "one more than x") ||
      !isDimension(check, {"y", getY()}, dim))
    return failure();
  if (y.isDynamicDim(static_cast<unsigned>(dim)))
    check.fault() << "dimension " << dim << " of y is ?, expected how often x is repeated";
  return check.fits(spreadRule(*this), "x -> y").result();
}

FactorRule SpreadOp::getFactorRule() { return FactorRule::parse(*this, spreadRule(*this)).linear({Linearity::Joint}); }

void SpreadOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  int64_t dim = getDimAttr().getInt(), inner = y.extent(dim + 1, y.rank()), all = y.shape[dim] * inner;
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = (*operands[0])[i / all * inner + i % inner];
}

void SpreadOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                             MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = make<SumOverOp>(builder, getLoc(), getX().getType(), resultGrads[0], getDimAttr());
}

// ---- sum_over
static std::string sumOverRule(SumOverOp op) {
  int64_t rank = tensorType(op.getX()).getRank(), dim = op.getDimAttr().getInt();
  return term(rank, dim, "n") + " -> " + termWithout(rank, dim);
}

LogicalResult SumOverOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}, {"y", getY()}});
  int64_t rank = tensorType(getX()).getRank();
  if (!isDimension(check, {"x", getX()}, getDimAttr().getInt()) ||
      !check.rank({"y", getY()}, rank - 1, rank - 1, "one less than x"))
    return failure();
  return check.fits(sumOverRule(*this), "x -> y").result();
}

FactorRule SumOverOp::getFactorRule() {
  return FactorRule::parse(*this, sumOverRule(*this)).linear({Linearity::Multi});
}

void SumOverOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  HostTensor &y = results[0];
  int64_t dim = getDimAttr().getInt(), inner = x.extent(dim + 1, x.rank()), all = x.shape[dim] * inner;
  std::fill(y.data.begin(), y.data.end(), 0.0);
  for (int64_t i = 0; i < x.size(); ++i)
    y[i / all * inner + i % inner] += x[i];
}

void SumOverOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = make<SpreadOp>(builder, getLoc(), getX().getType(), resultGrads[0], getDimAttr());
}
