// Other ways to move the same shards: gathers, scatters, exchanges and slices in place of one another, and on the way.
#include "test/passes/Dist/Judge/Claimed.h"
#include "test/passes/Dist/Judge/Rewrites.h"

namespace hocket::testing {

/// What goes in and what comes out of an op of one operand and one result.
struct Step {
  Value x, y;
  RankedTensorType global;
  ShardingAttr before, after;
  ArrayRef<AxisRef> axes;
  AxesAttr attr;
  Operation *op;

  template <typename OpT> static std::optional<Step> of(Operation *op) {
    auto found = dyn_cast<OpT>(op);
    auto x = found ? dyn_cast<OpResult>(op->getOperand(0)) : OpResult();
    if (!x || !claimOf(x) || op->getNumResults() != 1 || !claimOf(op->getResult(0)))
      return {};
    return Step{x,
                op->getResult(0),
                claimOf(x).getGlobal(),
                claimOf(x).getSharding(),
                claimOf(op->getResult(0)).getSharding(),
                found.getAxes().getRefs(),
                found.getAxesAttr(),
                op};
  }
  bool done(Value instead) {
    y.replaceAllUsesWith(instead);
    op->erase();
    return true;
  }
  Value gather(OpBuilder &builder, Value value, ShardingAttr from, int64_t dim, ArrayRef<AxisRef> over) {
    return insert<AllGatherOp>(builder, op, global, gathered(from, dim, over.size()), value, number(op, dim),
                               axesAttr(op, over), cause(op));
  }
  Value slice(OpBuilder &builder, Value value, ShardingAttr from, int64_t dim, ArrayRef<AxisRef> over) {
    return insert<SliceOp>(builder, op, global, splitFurther(from, dim, over), value, number(op, dim),
                           axesAttr(op, over));
  }
  Value exchange(OpBuilder &builder, Value value, ShardingAttr to, int64_t split, int64_t gather) {
    return insert<AllToAllOp>(builder, op, global, to, value, number(op, split), number(op, gather), attr, cause(op));
  }
  /// A dimension other than `dim` that the axes split evenly, -1 if there is none.
  int64_t otherDim(ShardingAttr sharding, int64_t dim) {
    for (int64_t other = 0; other < global.getRank(); ++other)
      if (other != dim && divides(op, global, other, splitFurther(sharding, other, axes)))
        return other;
    return -1;
  }
};

/// The two halves of "tp" of 4, major first; nothing for other axes.
static SmallVector<AxisRef> halvesOf(Operation *op, ArrayRef<AxisRef> axes) {
  if (axes.size() != 1 || axes[0] != axis(op, "tp") || meshOf(op).getAxisSize("tp") != 4)
    return {};
  return {axis(op, "tp", 1, 2), axis(op, "tp", 2, 2)};
}

// ---- one axis after another
static bool gatherInTurn(Operation *op, ArrayRef<AxisRef> turns) {
  auto step = Step::of<AllGatherOp>(op);
  int64_t dim = step ? static_cast<int64_t>(cast<AllGatherOp>(op).getDim()) : 0;
  if (!step || turns.size() < 2 || step->axes.size() > step->before.getDims()[dim].axes.size() ||
      !divides(op, step->global, dim, step->before))
    return false;
  OpBuilder builder(op);
  Value value = step->x;
  ShardingAttr now = gathered(step->before, dim, step->axes.size());
  for (const AxisRef &last : llvm::reverse(turns)) {
    turns = turns.drop_back();
    value = insert<AllGatherOp>(builder, op, step->global, splitFurther(now, dim, turns), value, number(op, dim),
                                axesAttr(op, last), cause(op));
  }
  return step->done(value);
}
bool gatherAxesInTurn(Operation *op) {
  auto gather = dyn_cast<AllGatherOp>(op);
  return gather && gatherInTurn(op, SmallVector<AxisRef>(gather.getAxes().getRefs()));
}
bool gatherHalves(Operation *op) {
  auto gather = dyn_cast<AllGatherOp>(op);
  return gather && gatherInTurn(op, halvesOf(op, gather.getAxes().getRefs()));
}

static bool scatterInTurn(Operation *op, ArrayRef<AxisRef> turns) {
  auto step = Step::of<ReduceScatterOp>(op);
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  if (!step || turns.size() < 2 || !divides(op, step->global, static_cast<int64_t>(scatter.getDim()), step->after))
    return false;
  int64_t dim = static_cast<int64_t>(scatter.getDim());
  OpBuilder builder(op);
  Value value = step->x;
  ShardingAttr base = step->before.withoutPartial();
  SmallVector<AxisRef> done;
  for (size_t i = 0; i < turns.size(); ++i) {
    done.push_back(turns[i]);
    ShardingAttr now = splitFurther(base, dim, done).withPartial(turns.drop_front(i + 1), scatter.getReduction());
    value = insert<ReduceScatterOp>(builder, op, step->global, now, value, number(op, dim), scatter.getReductionAttr(),
                                    axesAttr(op, turns[i]), cause(op));
  }
  return step->done(value);
}
bool scatterAxesInTurn(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  return scatter && scatterInTurn(op, SmallVector<AxisRef>(scatter.getAxes().getRefs()));
}
bool scatterHalves(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  return scatter && scatterInTurn(op, halvesOf(op, scatter.getAxes().getRefs()));
}

// ---- one transfer for another
bool gatherAndSliceForExchange(Operation *op) {
  auto step = Step::of<AllToAllOp>(op);
  if (!step)
    return false;
  auto exchange = cast<AllToAllOp>(op);
  int64_t from = static_cast<int64_t>(exchange.getGatherDim()), to = static_cast<int64_t>(exchange.getSplitDim());
  OpBuilder builder(op);
  Value whole = step->gather(builder, step->x, step->before, from, step->axes);
  return step->done(step->slice(builder, whole, gathered(step->before, from, step->axes.size()), to, step->axes));
}
bool exchangeThenGather(Operation *op) {
  auto step = Step::of<AllGatherOp>(op);
  int64_t dim = step ? static_cast<int64_t>(cast<AllGatherOp>(op).getDim()) : 0;
  int64_t other = step ? step->otherDim(step->after, dim) : -1;
  if (other < 0)
    return false;
  OpBuilder builder(op);
  ShardingAttr between = splitFurther(step->after, other, step->axes);
  Value value = step->exchange(builder, step->x, between, other, dim);
  return step->done(step->gather(builder, value, between, other, step->axes));
}
bool sliceThenExchange(Operation *op) {
  auto step = Step::of<SliceOp>(op);
  int64_t dim = step ? static_cast<int64_t>(cast<SliceOp>(op).getDim()) : 0;
  int64_t other = step ? step->otherDim(step->before, dim) : -1;
  if (other < 0)
    return false;
  OpBuilder builder(op);
  Value value = step->slice(builder, step->x, step->before, other, step->axes);
  return step->done(step->exchange(builder, value, step->after, dim, other));
}
bool scatterOtherThenExchange(Operation *op) {
  auto step = Step::of<ReduceScatterOp>(op);
  int64_t dim = step ? static_cast<int64_t>(cast<ReduceScatterOp>(op).getDim()) : 0;
  ShardingAttr whole = step ? step->before.withoutPartial() : ShardingAttr();
  int64_t other = step ? step->otherDim(whole, dim) : -1;
  if (other < 0 || !divides(op, step->global, dim, step->after))
    return false;
  OpBuilder builder(op);
  auto scatter = cast<ReduceScatterOp>(op);
  ShardingAttr between = splitFurther(whole, other, step->axes);
  Value value = insert<ReduceScatterOp>(builder, op, step->global, between, step->x, number(op, other),
                                        scatter.getReductionAttr(), step->attr, cause(op));
  return step->done(step->exchange(builder, value, splitFurther(whole, dim, step->axes), dim, other));
}
/// A join as the scatter of one dimension and the gather of it, along the last dimension that fits.
bool scatterAndGatherLast(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  if (!join || join.getXs().size() != 1)
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  ArrayRef<AxisRef> axes = join.getAxes().getRefs();
  for (int64_t dim = said.getGlobal().getRank(); dim-- > 0;) {
    ShardingAttr split = splitFurther(said.getSharding(), dim, axes);
    if (!divides(op, said.getGlobal(), dim, split))
      continue;
    OpBuilder builder(op);
    Value shard = insert<ReduceScatterOp>(builder, op, said.getGlobal(), split, join.getXs()[0], number(op, dim),
                                          join.getReductionAttr(), join.getAxesAttr(), cause(op));
    op->getResult(0).replaceAllUsesWith(insert<AllGatherOp>(builder, op, said.getGlobal(), said.getSharding(), shard,
                                                            number(op, dim), join.getAxesAttr(), cause(op)));
    op->erase();
    return true;
  }
  return false;
}

// ---- on the way
/// Behind a gather: a slice of what it made and the gather again.
bool gatherTwice(Operation *op) {
  auto step = Step::of<AllGatherOp>(op);
  if (!step)
    return false;
  int64_t dim = static_cast<int64_t>(cast<AllGatherOp>(op).getDim());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value shard = insert<SliceOp>(builder, op, step->global, step->before, step->y, number(op, dim), step->attr);
  Value whole =
      insert<AllGatherOp>(builder, op, step->global, step->after, shard, number(op, dim), step->attr, cause(op));
  step->y.replaceAllUsesExcept(whole, shard.getDefiningOp());
  return true;
}
/// What is split along its last axis over a dimension is gathered and sliced again, behind a scatter or a slice.
static bool gatherAndSliceBehind(Operation *op, int64_t dim, AxesAttr axes) {
  ShardAttr said = claimOf(op->getResult(0));
  ShardingAttr whole = gathered(said.getSharding(), dim, axes.getRefs().size());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value all =
      insert<AllGatherOp>(builder, op, said.getGlobal(), whole, op->getResult(0), number(op, dim), axes, cause(op));
  Value again = insert<SliceOp>(builder, op, said.getGlobal(), said.getSharding(), all, number(op, dim), axes);
  op->getResult(0).replaceAllUsesExcept(again, all.getDefiningOp());
  return true;
}
bool gatherAndSlice(Operation *op) {
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return gatherAndSliceBehind(op, static_cast<int64_t>(scatter.getDim()), scatter.getAxesAttr());
  if (auto slice = dyn_cast<SliceOp>(op))
    return gatherAndSliceBehind(op, static_cast<int64_t>(slice.getDim()), slice.getAxesAttr());
  return false;
}
/// gelu, silu and casts of what all ranks of tp hold, each on a part: sliced before, gathered behind.
bool computeOnShards(Operation *op) {
  if (!isa<nn::GeluOp, nn::SiluOp, nn::CastOp>(op) || op->getNumOperands() != 1)
    return false;
  auto x = dyn_cast<OpResult>(op->getOperand(0));
  if (!x || !claimOf(x) || !claimOf(op->getResult(0)) || uses(claimOf(x).getSharding(), axis(op, "tp")) ||
      claimOf(x).getSharding().isPartial())
    return false;
  AxisRef tp = axis(op, "tp");
  ShardAttr said = claimOf(op->getResult(0));
  for (int64_t dim = 0; dim < said.getGlobal().getRank(); ++dim) {
    ShardingAttr split = splitFurther(said.getSharding(), dim, tp);
    if (!divides(op, said.getGlobal(), dim, split))
      continue;
    OpBuilder builder(op);
    Value part =
        insert<SliceOp>(builder, op, claimOf(x).getGlobal(), split, Value(x), number(op, dim), axesAttr(op, tp));
    Operation *made = builder.clone(*op);
    made->setOperand(0, part);
    made->getResult(0).setType(localOf(op, said.getGlobal(), split));
    claim(made, {split}, said.getGlobal());
    op->getResult(0).replaceAllUsesWith(insert<AllGatherOp>(builder, op, said.getGlobal(), said.getSharding(),
                                                            made->getResult(0), number(op, dim), axesAttr(op, tp),
                                                            cause(op)));
    op->erase();
    return true;
  }
  return false;
}
} // namespace hocket::testing
