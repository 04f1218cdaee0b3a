// See Epilogues.h.
#include "passes/Codegen/Fusion/Epilogues.h"
#include "passes/Codegen/Fusion/Activations.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// Of one phase and layer: no plan puts one without the other into a body.
bool goTogether(Operation *a, Operation *b) {
  return getPhase(a) == getPhase(b) && step::layerOf(getPath(a)) == step::layerOf(getPath(b)) &&
         a->getBlock() == b->getBlock();
}

int64_t rowsOf(step::GemmOp gemm) { return gemm.getMnk()[0]; }
int64_t columnsOf(step::GemmOp gemm) { return gemm.getMnk()[1]; }

/// The result is [m, n] without gaps, and the product one that has epilogues.
bool isPlain(step::GemmOp gemm) {
  auto type = cast<RankedTensorType>(gemm.getResult(0).getType());
  return !gemm.getEpilogue() && !gemm.getBatch() &&
         llvm::all_of(gemm.getMnk(), [](int64_t size) { return size > 1; }) &&
         gemm.getLeading()[2] == columnsOf(gemm) && type.getNumElements() == rowsOf(gemm) * columnsOf(gemm);
}

/// `vector` has the trailing dimensions of `matrix`, which are `size` elements, and the element type of `like`.
bool isRow(Value vector, Value matrix, int64_t size, Value like) {
  auto row = cast<RankedTensorType>(vector.getType()), whole = cast<RankedTensorType>(matrix.getType());
  return row.getNumElements() == size && row.getShape() == whole.getShape().take_back(row.getRank()) &&
         row.getElementType() == getElementTypeOrSelf(like.getType());
}

bool wholeEights(step::GemmOp gemm) { return gemm.getLeading()[2] % 8 == 0; }

/// The product with an epilogue, where it was; at `op`, whose work the epilogue does, if `extra` is made in between.
step::GemmOp withEpilogue(step::GemmOp gemm, Operation *op, step::Epilogue epilogue, Value extra,
                          ArrayRef<Value> results) {
  Operation *made = extra ? extra.getDefiningOp() : nullptr;
  bool late = made && made->getBlock() == gemm->getBlock() && gemm->isBeforeInBlock(made);
  OpBuilder builder(late ? op : gemm.getOperation());
  SmallVector<Type> types;
  SmallVector<Attribute> shardings;
  for (Value result : results) {
    types.push_back(result.getType());
    shardings.push_back(getSharding(cast<OpResult>(result)));
  }
  auto fused = step::GemmOp::create(
      builder, gemm.getLoc(), types, gemm.getA(), gemm.getB(), gemm.getC(), extra, ValueRange(),
      step::EpilogueAttr::get(builder.getContext(), epilogue), gemm.getTransAAttr(), gemm.getTransBAttr(),
      gemm.getMnkAttr(), gemm.getLeadingAttr(), IntegerAttr(), DenseI64ArrayAttr(),
      gemm->getAttrOfType<StringAttr>("path"), gemm->getAttrOfType<PhaseAttr>("phase"), ArrayAttr());
  setShardings(fused, shardings);
  for (auto [result, with] : llvm::zip_equal(results, fused.getResults()))
    Value(result).replaceAllUsesWith(with);
  return fused;
}

template <typename OpT> OpT onlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<OpT>(*value.getUsers().begin()) : OpT();
}

// ---- bias, gelu ----------------------------------------------------------------------------------------------------
/// Gelu of `before`, which becomes the second result: what backward needs.
GeluOp geluOf(step::GemmOp gemm, Value before) {
  for (Operation *user : before.getUsers())
    if (auto gelu = dyn_cast<GeluOp>(user); gelu && goTogether(gemm, gelu) && wholeEights(gemm))
      return gelu;
  return {};
}

bool fuseBias(step::GemmOp gemm) {
  Value product = gemm.getResult(0);
  auto add = onlyUser<AddOp>(product);
  if (!add || gemm.getC() || add.getA() != product || !goTogether(gemm, add) ||
      !isRow(add.getB(), product, columnsOf(gemm), product))
    return false;
  Value before = add.getY();
  if (GeluOp gelu = geluOf(gemm, before)) {
    withEpilogue(gemm, add, step::Epilogue::BiasGelu, add.getB(), {gelu.getY(), before});
    gelu.erase();
  } else {
    withEpilogue(gemm, add, step::Epilogue::Bias, add.getB(), before);
  }
  add.erase();
  gemm.erase();
  return true;
}

bool fuseGelu(step::GemmOp gemm) {
  GeluOp gelu = gemm.getC() ? GeluOp() : geluOf(gemm, gemm.getResult(0));
  if (!gelu)
    return false;
  withEpilogue(gemm, gelu, step::Epilogue::Gelu, Value(), {gelu.getY(), gemm.getResult(0)});
  gelu.erase();
  gemm.erase();
  return true;
}

// ---- gelu's gradient -----------------------------------------------------------------------------------------------
bool fuseGeluGradient(step::GemmOp gemm) {
  Value product = gemm.getResult(0);
  auto gradient = onlyUser<ElementwiseOp>(product);
  if (!gradient || gemm.getC() || !goTogether(gemm, gradient) || !wholeEights(gemm) || gradient.getXs()[0] != product ||
      gradient.getYs()[0].getType() != product.getType() || !isGeluGradient(gradient) ||
      gradient.getXs()[1].getType() != product.getType())
    return false;
  Value before = gradient.getXs()[1], result = gradient.getYs()[0];
  withEpilogue(gemm, gradient, step::Epilogue::GeluGrad, before, result);
  gradient.erase();
  gemm.erase();
  return true;
}

// ---- sums of operands ----------------------------------------------------------------------------------------------
/// The sum over the rows of `matrix` that goes with `gemm`, of which it is a part: one number of `size`, typed like it.
SumOp rowSum(step::GemmOp gemm, Value matrix, int64_t size) {
  for (Operation *user : matrix.getUsers())
    if (auto sum = dyn_cast<SumOp>(user);
        sum && goTogether(gemm, sum) && isRow(sum.getY(), matrix, size, gemm.getResult(0)))
      return sum;
  return {};
}

/// Ops before `gemm` that need `sum`, in order: additions to accumulators and their stores, which can as well stand
/// behind it. Nothing if one of them cannot.
std::optional<SmallVector<Operation *>> mayFollow(SumOp sum, step::GemmOp gemm) {
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> work{sum};
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (user == gemm)
        return std::nullopt; // what is multiplied depends on the sum
      if (!user->isBeforeInBlock(gemm) || !found.insert(user))
        continue;
      if (!isa<AddOp, CastOp, step::StoreOp>(user))
        return std::nullopt;
      if (auto store = dyn_cast<step::StoreOp>(user))
        for (Operation *other : store.getBuffer().getUsers())
          if (other->getBlock() == gemm->getBlock() && user->isBeforeInBlock(other) && other->isBeforeInBlock(gemm))
            return std::nullopt;
      work.push_back(user);
    }
  SmallVector<Operation *> order = found.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

bool fuseOperandSum(step::GemmOp gemm, Value operand, bool isA) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t size = isA ? rowsOf(gemm) : columnsOf(gemm), leading = gemm.getLeading()[isA ? 0 : 1];
  SumOp sum =
      leading == size && type.getNumElements() == size * gemm.getMnk()[2] ? rowSum(gemm, operand, size) : SumOp();
  auto later = sum ? mayFollow(sum, gemm) : std::nullopt;
  if (!later)
    return false;
  auto made = withEpilogue(gemm, gemm, isA ? step::Epilogue::SumA : step::Epilogue::SumB, Value(),
                           {gemm.getResult(0), sum.getY()});
  Operation *last = made;
  for (Operation *op : *later) {
    op->moveAfter(last);
    last = op;
  }
  sum.erase();
  gemm.erase();
  return true;
}

/// Of the operand that is stored with k outside.
bool fuseOperandSums(step::GemmOp gemm) {
  return (!gemm.getTransB() && fuseOperandSum(gemm, gemm.getB(), false)) ||
         (gemm.getTransA() && fuseOperandSum(gemm, gemm.getA(), true));
}
} // namespace

void fuseEpilogues(Block &block) {
  for (auto gemm : llvm::make_early_inc_range(block.getOps<step::GemmOp>()))
    if (isPlain(gemm))
      (void)(fuseBias(gemm) || fuseGelu(gemm) || fuseGeluGradient(gemm) || fuseOperandSums(gemm));
}
} // namespace hocket::codegen
