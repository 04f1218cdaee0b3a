// The meaning of a manual region on whole tensors: its ranks side by side.
#include "dialect/Dist/LocalTypes.h"
#include <cmath>
using namespace mlir;
using namespace hocket::dist;
namespace nn = hocket::nn;
using nn::HostTensor;

namespace {
using PerRank = std::vector<HostTensor>;

/// Copies between `part` and elements [begin, begin + size of part) of dimension `dim` of `whole`.
void copyBlock(HostTensor &whole, HostTensor &part, int64_t dim, int64_t begin, bool intoWhole) {
  int64_t outer = whole.extent(0, dim), inner = whole.extent(dim + 1, whole.rank());
  int64_t all = whole.shape[dim], count = part.shape[dim];
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0; k < count; ++k)
      for (int64_t j = 0; j < inner; ++j) {
        double &a = whole[(i * all + begin + k) * inner + j], &b = part[(i * count + k) * inner + j];
        intoWhole ? a = b : b = a;
      }
}
HostTensor blockOf(HostTensor whole, int64_t dim, int64_t index, int64_t count) {
  SmallVector<int64_t> shape(whole.shape);
  shape[dim] /= count;
  HostTensor part(shape);
  copyBlock(whole, part, dim, index * shape[dim], /*intoWhole=*/false);
  return part;
}

class Lockstep {
public:
  explicit Lockstep(LocalOp op) : op(op), typing(op, op.getBody()) {
    typing.run(bodyArguments(op), /*report=*/false);
    for (auto axis : op.getAxes().getAsRange<MeshAxisAttr>())
      sizes.push_back(axis.getSize()), ranks *= axis.getSize();
  }
  void run(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results);

private:
  int64_t stride(size_t axis) const {
    int64_t product = 1;
    for (size_t i = axis + 1; i < sizes.size(); ++i)
      product *= sizes[i];
    return product;
  }
  int64_t coordinate(int64_t rank, size_t axis) const { return rank / stride(axis) % sizes[axis]; }
  HostTensor partOf(const HostTensor &whole, ArrayRef<LocalType> types, int64_t rank) const;
  HostTensor join(PerRank parts, ArrayRef<LocalType> types) const;
  /// What ranks that differ along `axis` alone hold together, as seen by `rank`.
  HostTensor together(const PerRank &parts, size_t axis, const LocalType &type, int64_t rank) const;
  PerRank convert(ConvertOp convert);
  void compute(Operation *each);

  LocalOp op;
  LocalTyping typing;
  SmallVector<int64_t> sizes;
  int64_t ranks = 1;
  llvm::DenseMap<Value, PerRank> values;
};
} // namespace

HostTensor Lockstep::partOf(const HostTensor &whole, ArrayRef<LocalType> types, int64_t rank) const {
  HostTensor part = whole;
  for (auto [axis, type] : llvm::enumerate(types))
    if (type.kind == LocalKind::Varying)
      part = blockOf(part, type.dim, coordinate(rank, axis), sizes[axis]);
  return part;
}

HostTensor Lockstep::together(const PerRank &parts, size_t axis, const LocalType &type, int64_t rank) const {
  int64_t first = rank - coordinate(rank, axis) * stride(axis);
  HostTensor all = parts[first];
  if (type.kind == LocalKind::Partial)
    for (int64_t k = 1; k < sizes[axis]; ++k)
      for (int64_t i = 0; i < all.size(); ++i)
        all[i] += parts[first + k * stride(axis)][i];
  if (type.kind != LocalKind::Varying)
    return all;
  SmallVector<int64_t> shape(all.shape);
  int64_t one = shape[type.dim];
  shape[type.dim] *= sizes[axis];
  all = HostTensor(shape);
  for (int64_t k = 0; k < sizes[axis]; ++k) {
    HostTensor part = parts[first + k * stride(axis)];
    copyBlock(all, part, type.dim, k * one, /*intoWhole=*/true);
  }
  return all;
}

HostTensor Lockstep::join(PerRank parts, ArrayRef<LocalType> types) const {
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    PerRank next;
    for (int64_t rank = 0; rank < ranks; ++rank)
      next.push_back(together(parts, axis, types[axis], rank));
    parts = std::move(next);
  }
  return parts.front();
}

PerRank Lockstep::convert(ConvertOp convert) {
  auto axis = static_cast<size_t>(op.axisIndex(convert.getAxis()));
  LocalType from = convert.getFrom().getAxes().front(), to = convert.getTo().getAxes().front();
  PerRank made;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    HostTensor whole = together(values[convert.getX()], axis, from, rank);
    made.push_back(to.kind == LocalKind::Varying ? blockOf(whole, to.dim, coordinate(rank, axis), sizes[axis]) : whole);
  }
  return made;
}

/// Shapes of results follow from those of operands, which may be shards: a factor has the size that an operand gives
/// it.
static SmallVector<int64_t> shapeOf(OpResult result, const nn::FactorRule &rule,
                                    ArrayRef<const HostTensor *> operands) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(result.getType()).getShape());
  for (auto [dim, factor] : llvm::enumerate(rule.results[result.getResultNumber()]))
    for (auto [operand, term] : llvm::zip(operands, rule.operands))
      if (auto at = llvm::find(term, factor); at != term.end())
        shape[dim] = operand->shape[at - term.begin()];
  return shape;
}

void Lockstep::compute(Operation *each) {
  if (auto step = dyn_cast<ConvertOp>(each)) {
    values[step.getY()] = convert(step);
    return;
  }
  if (auto offset = dyn_cast<OffsetOp>(each)) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t at = 0, size = static_cast<int64_t>(offset.getSize());
      for (const AxisRef &ref : offset.getAxes().getRefs()) {
        auto axis = static_cast<size_t>(op.axisIndex(ref.name));
        size = llvm::divideCeil(size, sizes[axis]);
        at += coordinate(rank, axis) * size;
      }
      values[offset.getY()].push_back(HostTensor(ArrayRef<int64_t>(), static_cast<double>(at)));
    }
    return;
  }
  nn::FactorRule rule = cast<nn::FactorOpInterface>(each).getFactorRule();
  for (Value result : each->getResults())
    values[result] = PerRank(static_cast<size_t>(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    SmallVector<const HostTensor *> operands;
    for (Value operand : each->getOperands())
      operands.push_back(&values[operand][rank]);
    std::vector<HostTensor> results;
    for (OpResult result : each->getResults())
      results.emplace_back(shapeOf(result, rule, operands), NAN);
    cast<nn::ReferenceOpInterface>(each).evaluate(operands, results);
    for (auto [result, tensor] : llvm::zip(each->getResults(), results))
      values[result][rank] = std::move(tensor);
  }
}

void Lockstep::run(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  for (auto [argument, whole] : llvm::zip(op.getBody().getArguments(), operands))
    for (int64_t rank = 0; rank < ranks; ++rank)
      values[argument].push_back(partOf(*whole, *typing.of(argument), rank));
  for (Operation &each : op.getBody().front().without_terminator())
    compute(&each);
  auto last = cast<nn::ReturnOp>(op.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(last.getValues()))
    results[i] = join(values[value], cast<LocalTypeAttr>(op.getResultTypesAttr()[i]).getAxes());
}

void LocalOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  Lockstep(*this).run(operands, results);
}

int64_t LocalOp::getFlops() {
  int64_t flops = 0, ranks = 1;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>())
    ranks *= axis.getSize();
  for (auto each : getBody().getOps<nn::ReferenceOpInterface>())
    flops += each.getFlops() * ranks;
  return flops;
}
