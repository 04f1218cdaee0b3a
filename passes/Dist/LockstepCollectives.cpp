// Collectives, masks and offsets on all ranks at once.
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Dist/RankGroups.h"
using namespace mlir;

namespace hocket::dist {
using interpreter::LockstepOps;
using interpreter::PerRank;
using interpreter::RankGrid;
using nn::HostTensor;

RankGrid rankGridOf(MeshOp mesh) {
  RankGrid grid;
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
    grid.axes.push_back({axis.getName().str(), axis.getSize()});
  return grid;
}

namespace {
double joined(double a, double b, Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
    return a + b;
  case Reduction::Max:
    return std::max(a, b);
  case Reduction::Min:
    return std::min(a, b);
  }
  return a;
}

HostTensor join(const PerRank &x, ArrayRef<int64_t> group, Reduction reduction) {
  HostTensor sum = x[group.front()];
  for (int64_t member : group.drop_front())
    for (int64_t i = 0; i < sum.size(); ++i)
      sum[i] = joined(sum[i], x[member][i], reduction);
  return sum;
}

SmallVector<int64_t> originAt(const HostTensor &tensor, int64_t dim, int64_t begin) {
  SmallVector<int64_t> origin(tensor.shape.size(), 0);
  origin[dim] = begin;
  return origin;
}

/// The rank's piece of `whole` along `dim`, at the head of `to`.
void takePiece(const HostTensor &whole, HostTensor &to, int64_t dim, const Piece &piece) {
  SmallVector<int64_t> sizes(whole.shape);
  sizes[dim] = std::max<int64_t>(0, std::min(piece.end, whole.shape[dim]) - piece.begin);
  copyBox(whole, originAt(whole, dim, piece.begin), to, originAt(to, dim, 0), sizes);
}

using Operands = ArrayRef<const PerRank *>;
using Results = MutableArrayRef<PerRank>;

LogicalResult allReduce(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto reduce = cast<AllReduceOp>(op);
  ArrayRef<AxisRef> axes = reduce.getAxes().getRefs();
  for (auto [x, y] : llvm::zip(operands, results))
    for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
      SmallVector<int64_t> group = groupOf(grid, rank, axes);
      if (auto stages = reduce.getStages()) {
        llvm::erase_if(
            group, [&](int64_t member) { return !llvm::is_contained(*stages, placeOn(grid, member, axes.front())); });
        if (!llvm::is_contained(group, rank)) {
          y[rank] = (*x)[rank];
          continue;
        }
      }
      llvm::sort(group);
      y[rank] = join(*x, group, reduce.getReduction());
    }
  return success();
}

LogicalResult reduceScatter(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto scatter = cast<ReduceScatterOp>(op);
  ArrayRef<AxisRef> axes = scatter.getAxes().getRefs();
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    SmallVector<int64_t> group = groupOf(grid, rank, axes);
    llvm::sort(group);
    HostTensor sum = join(*operands[0], group, scatter.getReduction());
    int64_t dim = static_cast<int64_t>(scatter.getDim());
    takePiece(sum, results[0][rank], dim, pieceOf(grid, rank, sum.shape[dim], axes));
  }
  return success();
}

LogicalResult allGather(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto gather = cast<AllGatherOp>(op);
  ArrayRef<AxisRef> axes = gather.getAxes().getRefs();
  int64_t dim = static_cast<int64_t>(gather.getDim());
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    HostTensor &whole = results[0][rank];
    for (int64_t member : groupOf(grid, rank, axes)) {
      const HostTensor &shard = (*operands[0])[member];
      Piece piece = pieceOf(grid, member, whole.shape[dim], axes);
      SmallVector<int64_t> sizes(shard.shape);
      sizes[dim] = piece.end - piece.begin;
      copyBox(shard, originAt(shard, dim, 0), whole, originAt(whole, dim, piece.begin), sizes);
    }
  }
  return success();
}

LogicalResult allToAll(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto exchange = cast<AllToAllOp>(op);
  ArrayRef<AxisRef> axes = exchange.getAxes().getRefs();
  int64_t split = static_cast<int64_t>(exchange.getSplitDim()), gather = static_cast<int64_t>(exchange.getGatherDim());
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    HostTensor &y = results[0][rank];
    for (int64_t member : groupOf(grid, rank, axes)) {
      const HostTensor &x = (*operands[0])[member];
      Piece theirs = pieceOf(grid, member, y.shape[gather], axes), mine = pieceOf(grid, rank, x.shape[split], axes);
      SmallVector<int64_t> sizes(x.shape), from(x.shape.size(), 0), to(x.shape.size(), 0);
      sizes[gather] = theirs.end - theirs.begin;
      sizes[split] = mine.end - mine.begin;
      from[split] = mine.begin;
      to[gather] = theirs.begin;
      copyBox(x, from, y, to, sizes);
    }
  }
  return success();
}

/// The rank `count` places before `rank` on the ring along `axes`.
int64_t placesBefore(const RankGrid &grid, int64_t rank, ArrayRef<AxisRef> axes, int64_t count) {
  SmallVector<int64_t> ring = groupOf(grid, rank, axes);
  auto size = static_cast<int64_t>(ring.size());
  return ring[(llvm::find(ring, rank) - ring.begin() + size - count % size) % size];
}

LogicalResult shift(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  ArrayRef<AxisRef> axes = cast<ShiftOp>(op).getAxes().getRefs();
  for (int64_t rank = 0; rank < grid.ranks(); ++rank)
    results[0][rank] = (*operands[0])[placesBefore(grid, rank, axes, 1)];
  return success();
}

LogicalResult slice(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto slice = cast<SliceOp>(op);
  int64_t dim = static_cast<int64_t>(slice.getDim());
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    const HostTensor &x = (*operands[0])[rank];
    takePiece(x, results[0][rank], dim, pieceOf(grid, rank, x.shape[dim], slice.getAxes().getRefs()));
  }
  return success();
}

LogicalResult mask(Operation *op, Operands operands, Results results, const RankGrid &grid) {
  auto mask = cast<MaskOp>(op);
  int64_t dim = static_cast<int64_t>(mask.getDim());
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    HostTensor &y = results[0][rank];
    y = (*operands[0])[rank];
    Piece piece = pieceOf(grid, rank, static_cast<int64_t>(mask.getSize()), mask.getAxes().getRefs());
    int64_t inner = y.extent(dim + 1, y.rank()), length = y.shape[dim];
    for (int64_t i = 0; i < y.size(); ++i)
      if (i / inner % length >= piece.end - piece.begin)
        y[i] = mask.getValue().convertToDouble();
  }
  return success();
}

LogicalResult offset(Operation *op, Operands, Results results, const RankGrid &grid) {
  auto offset = cast<OffsetOp>(op);
  ArrayRef<AxisRef> axes = offset.getAxes().getRefs();
  int64_t behind = static_cast<int64_t>(offset.getBehind().value_or(0));
  for (int64_t rank = 0; rank < grid.ranks(); ++rank)
    results[0][rank][0] = static_cast<double>(
        pieceOf(grid, placesBefore(grid, rank, axes, behind), static_cast<int64_t>(offset.getSize()), axes).begin);
  return success();
}
} // namespace

void addLockstepCollectives(LockstepOps &ops) {
  ops.add("dist.all_reduce", allReduce);
  ops.add("dist.reduce_scatter", reduceScatter);
  ops.add("dist.all_gather", allGather);
  ops.add("dist.all_to_all", allToAll);
  ops.add("dist.shift", shift);
  ops.add("dist.slice", slice);
  ops.add("dist.mask", mask);
  ops.add("dist.offset", offset);
}
} // namespace hocket::dist
