// Ops that only move or add elements: unstack, stack, sum. And the elementwise ops that gradients of these need.
#include "dialect/NN/ScalarGradient.h"
#include "dialect/NN/ShapeCheck.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket::nn;

namespace {
/// "d0 d1" with '!c' at `dim`: the stacked tensor; without it: a slice.
std::string stackedTerm(int64_t sliceRank, int64_t dim) {
  std::string names = joinNames(factorNames("d", dim), "!c");
  return joinNames(names, factorNames("d", sliceRank - dim, dim));
}
std::string sliceTerms(int64_t sliceRank, size_t count) {
  std::string one = sliceRank == 0 ? "_" : factorNames("d", sliceRank);
  return llvm::join(SmallVector<std::string>(count, one), ", ");
}

/// Copies between slice `index` and the stacked tensor, whichever way `move(stacked element, slice element)` goes.
template <typename Fn> void forSlice(const HostTensor &stacked, int64_t dim, int64_t index, Fn move) {
  int64_t count = stacked.shape[dim], outer = stacked.extent(0, dim), inner = stacked.extent(dim + 1, stacked.rank());
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j)
      move((i * count + index) * inner + j, i * inner + j);
}

/// Shared by both ops: `dim` lies in the stacked tensor, which has as many slices as there are values.
LogicalResult verifyStack(ShapeCheck check, ShapeCheck::Named stacked, ValueRange slices, int64_t dim,
                          function_ref<std::string()> rule, StringRef names) {
  RankedTensorType type = tensorType(stacked.value);
  if (dim < 0 || dim >= type.getRank())
    return check.fault() << "dim is " << dim << ", expected 0 to " << type.getRank() - 1 << " (" << stacked.name
                         << " has " << type.getRank() << (type.getRank() == 1 ? " dimension)" : " dimensions)");
  if (type.isDynamicDim(dim))
    check.fault() << "dimension " << dim << " of " << stacked.name << " is ?, expected a known number of slices";
  else if (type.getDimSize(dim) != static_cast<int64_t>(slices.size()))
    check.fault() << "number of slices is " << slices.size() << ", expected " << type.getDimSize(dim) << " (dimension "
                  << dim << " of " << stacked.name << ")";
  for (auto [index, slice] : llvm::enumerate(slices))
    check.element({"slice " + std::to_string(index), slice}, type.getElementType(), "that of " + stacked.name.str());
  return check.fits(rule(), names).result();
}
} // namespace

// ---- unstack --------------------------------------------------------------------------------------------------------
static std::string unstackRule(UnstackOp op) {
  int64_t rank = tensorType(op.getX()).getRank() - 1, dim = op.getDimAttr().getInt();
  return stackedTerm(rank, dim) + " -> " + sliceTerms(rank, op.getYs().size());
}

LogicalResult UnstackOp::verify() {
  return verifyStack(
      ShapeCheck(*this), {"x", getX()}, getYs(), getDimAttr().getInt(), [&] { return unstackRule(*this); }, "x ->");
}

FactorRule UnstackOp::getFactorRule() {
  return FactorRule::parse(*this, unstackRule(*this)).linear({Linearity::Joint});
}

void UnstackOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  for (auto [index, y] : llvm::enumerate(results))
    forSlice(x, getDimAttr().getInt(), static_cast<int64_t>(index),
             [&, &y = y](int64_t of, int64_t at) { y[at] = x[of]; });
}

void UnstackOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  auto given = llvm::find_if(resultGrads, [](Value grad) { return static_cast<bool>(grad); });
  if (!needed[0] || given == resultGrads.end())
    return;
  SmallVector<Value> slices(resultGrads);
  Value zero; // slices that no gradient reaches share one tensor of zeros
  for (Value &slice : slices)
    if (!slice)
      slice = zero = zero ? zero : buildZeros(builder, getLoc(), *given);
  operandGrads[0] = make<StackOp>(builder, getLoc(), getX().getType(), slices, getDimAttr());
}

// ---- stack ----------------------------------------------------------------------------------------------------------
static std::string stackRule(StackOp op) {
  int64_t rank = tensorType(op.getY()).getRank() - 1, dim = op.getDimAttr().getInt();
  return sliceTerms(rank, op.getXs().size()) + " -> " + stackedTerm(rank, dim);
}

LogicalResult StackOp::verify() {
  return verifyStack(
      ShapeCheck(*this), {"y", getY()}, getXs(), getDimAttr().getInt(), [&] { return stackRule(*this); }, "-> y");
}

FactorRule StackOp::getFactorRule() {
  return FactorRule::parse(*this, stackRule(*this)).linear(SmallVector<Linearity>(getNumOperands(), Linearity::Joint));
}

void StackOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  HostTensor &y = results[0];
  for (auto [index, x] : llvm::enumerate(operands))
    forSlice(y, getDimAttr().getInt(), static_cast<int64_t>(index),
             [&, x = x](int64_t of, int64_t at) { y[of] = (*x)[at]; });
}

void StackOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                            MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0] || needed.none())
    return;
  SmallVector<Type> types(getXs().getTypes());
  auto slices = make<UnstackOp>(builder, getLoc(), types, resultGrads[0], getDimAttr());
  for (unsigned i : needed.set_bits())
    operandGrads[i] = slices.getResult(i);
}

// ---- sum ------------------------------------------------------------------------------------------------------------
static std::string sumRule(SumOp op) {
  int64_t x = tensorType(op.getX()).getRank(), y = tensorType(op.getY()).getRank();
  return (x == 0 ? "_" : factorNames("d", x)) + " -> " + (y == 0 ? "_" : factorNames("d", y, x - y));
}

LogicalResult SumOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}}).widened({"y", getY()}, {"x", getX()});
  if (check.rank({"y", getY()}, 0, tensorType(getX()).getRank(), "the rank of x"))
    check.fits(sumRule(*this), "x -> y");
  return check.result();
}

FactorRule SumOp::getFactorRule() { return FactorRule::parse(*this, sumRule(*this)).linear({Linearity::Multi}); }

void SumOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  HostTensor &y = results[0];
  std::fill(y.data.begin(), y.data.end(), 0.0);
  for (int64_t i = 0; i < x.size(); ++i)
    y[i % y.size()] += x[i];
}

void SumOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                          MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0])
    operandGrads[0] = buildBroadcast(builder, getLoc(), resultGrads[0], tensorType(getX()));
}
