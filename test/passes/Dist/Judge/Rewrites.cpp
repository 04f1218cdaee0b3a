// Changes of single ops in partitioned programs.
#include "test/passes/Dist/Judge/Rewrites.h"
#include "test/passes/Dist/Judge/Claimed.h"
using namespace mlir;
using namespace hocket::dist;

namespace hocket::testing {

// ---- mutants --------------------------------------------------------------------------------------------------------
bool drop(Operation *op) {
  if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
    OpBuilder builder(op);
    ShardAttr said = claimOf(op->getResult(0));
    Value slice = insert<SliceOp>(builder, op, said.getGlobal(), said.getSharding(), scatter.getX(),
                                  scatter.getDimAttr(), scatter.getAxesAttr());
    op->getResult(0).replaceAllUsesWith(slice);
  } else if (isa<AllReduceOp, MaskOp>(op)) {
    op->replaceAllUsesWith(op->getOperands());
  } else {
    return false;
  }
  op->erase();
  return true;
}

bool otherCast(Operation *op) {
  auto cast = dyn_cast<nn::CastOp>(op);
  if (!cast)
    return false;
  cast.setSummands(!cast.getSummands());
  return true;
}

bool repeat(Operation *op) {
  if (!isa<AllReduceOp>(op))
    return false;
  Operation *again = op->clone();
  op->getBlock()->getOperations().insertAfter(op->getIterator(), again);
  again->setOperands(op->getResults());
  for (auto [first, second] : llvm::zip(op->getResults(), again->getResults()))
    first.replaceAllUsesExcept(second, again);
  return true;
}

bool swapAxes(Operation *op) {
  auto axes = op->getAttrOfType<AxesAttr>("axes");
  if (!axes || axes.getRefs().size() > 1) // {"tp", "dp"} joins what {"dp", "tp"} does
    return false;
  SmallVector<AxisRef> refs(axes.getRefs());
  for (AxisRef &ref : refs)
    ref = axis(op, ref.name == "tp" ? "dp" : "tp");
  op->setAttr("axes", axesAttr(op, refs));
  return true;
}

bool swapReduction(Operation *op) {
  auto reduction = op->getAttrOfType<ReductionAttr>("reduction");
  if (!reduction)
    return false;
  auto other = reduction.getValue() == Reduction::Sum ? Reduction::Max : Reduction::Sum;
  op->setAttr("reduction", ReductionAttr::get(op->getContext(), other));
  return true;
}

bool otherMaskValue(Operation *op) {
  auto mask = dyn_cast<MaskOp>(op);
  if (!mask)
    return false;
  mask.setValueAttr(OpBuilder(op).getF64FloatAttr(mask.getValue().isZero() ? 1 : 0));
  return true;
}

bool shorterDimension(Operation *op) {
  if (!isa<MaskOp, OffsetOp>(op))
    return false;
  op->setAttr("size", number(op, op->getAttrOfType<IntegerAttr>("size").getInt() - 2));
  return true;
}

bool dropOffset(Operation *op) {
  if (!isa<nn::FactorOpInterface>(op) || op->getNumOperands() == 0 || !op->getOperands().back().getType().isInteger(64))
    return false;
  op->eraseOperand(op->getNumOperands() - 1);
  return true;
}

static bool movePast(AllReduceOp join, Operation *user) {
  if (join.getXs().size() != 1 || !isa<nn::FactorOpInterface>(user))
    return false;
  ArrayRef<AxisRef> axes = join.getAxes().getRefs();
  for (OpResult result : user->getResults())
    if (!claimOf(result) ||
        llvm::any_of(axes, [&](const AxisRef &ref) { return uses(claimOf(result).getSharding(), ref); }) ||
        claimOf(result).getSharding().isPartial())
      return false;
  user->replaceUsesOfWith(join.getYs()[0], join.getXs()[0]);
  OpBuilder builder(user->getContext());
  builder.setInsertionPointAfter(user);
  SmallVector<Attribute> claims;
  for (OpResult result : user->getResults()) {
    ShardAttr said = claimOf(result);
    Value joined = insertJoin(builder, user, said.getGlobal(), said.getSharding(), result, join.getReductionAttr(),
                              join.getAxesAttr());
    result.replaceAllUsesExcept(joined, joined.getDefiningOp());
    claims.push_back(ShardAttr::get(user->getContext(), said.getGlobal(),
                                    said.getSharding().withPartial(axes, join.getReduction())));
  }
  nn::setShardings(user, claims);
  return true;
}

bool movePastFirstUser(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  return join && !op->use_empty() && movePast(join, usersInOrder(op).front());
}
bool movePastLastUser(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  return join && !op->use_empty() && movePast(join, usersInOrder(op).back());
}

/// An axis of several devices that the claim does not name; the last of the mesh.
static std::optional<AxisRef> freeAxis(Operation *op, ShardingAttr sharding) {
  std::optional<AxisRef> found;
  for (auto each : meshOf(op).getAxes().getAsRange<MeshAxisAttr>())
    if (AxisRef ref = axis(op, each.getName()); each.getSize() > 1 && !uses(sharding, ref))
      found = ref;
  return found;
}
bool wrongPartial(Operation *op) {
  if (op->getNumResults() == 0 || !claimOf(op->getResult(0)))
    return false;
  SmallVector<Attribute> all(op->getAttrOfType<ArrayAttr>("shardings").getValue());
  auto said = cast<ShardAttr>(all[0]);
  ShardingAttr sharding = said.getSharding();
  if (sharding.isPartial())
    sharding = sharding.withoutPartial();
  else if (std::optional<AxisRef> free = freeAxis(op, sharding))
    sharding = sharding.withPartial(*free);
  else
    return false;
  all[0] = ShardAttr::get(op->getContext(), said.getGlobal(), sharding);
  nn::setShardings(op, all);
  return true;
}

// ---- equivalents ----------------------------------------------------------------------------------------------------
/// An all_reduce of one value: what it joins, and what it makes.
struct Join {
  AllReduceOp op;
  Value x, y;
  RankedTensorType global;
  ShardingAttr after;

  static std::optional<Join> of(Operation *op) {
    auto join = dyn_cast<AllReduceOp>(op);
    if (!join || join.getXs().size() != 1)
      return {};
    ShardAttr said = claimOf(op->getResult(0));
    return Join{join, join.getXs()[0], join.getYs()[0], said.getGlobal(), said.getSharding()};
  }
  /// `dim` further split over the axes of the join, or `axes`.
  ShardingAttr split(int64_t dim, ArrayRef<AxisRef> axes) const {
    SmallVector<AxisRef> all(after.getDims()[dim].axes);
    all.append(axes.begin(), axes.end());
    return after.withDim(dim, all);
  }
  ArrayRef<AxisRef> axes() { return op.getAxes().getRefs(); }
  /// The first dimension that `ranks` divide after all other splits, -1 if there is none.
  int64_t evenDim(ArrayRef<AxisRef> over) {
    for (int64_t dim = 0; dim < global.getRank(); ++dim)
      if (!isUneven(meshOf(op), global.getDimSize(dim), split(dim, over).getDims()[dim].axes))
        return dim;
    return -1;
  }
};

bool scatterAndGather(Operation *op) {
  auto join = Join::of(op);
  int64_t dim = join ? join->evenDim(join->axes()) : -1;
  if (dim < 0)
    return false;
  OpBuilder builder(op);
  Value shard =
      insert<ReduceScatterOp>(builder, op, join->global, join->split(dim, join->axes()), join->x, number(op, dim),
                              join->op.getReductionAttr(), join->op.getAxesAttr(), cause(op));
  Value whole = insert<AllGatherOp>(builder, op, join->global, join->after, shard, number(op, dim),
                                    join->op.getAxesAttr(), cause(op));
  join->y.replaceAllUsesWith(whole);
  op->erase();
  return true;
}

bool reduceAndSlice(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  if (!scatter)
    return false;
  ShardAttr before = claimOf(cast<OpResult>(scatter.getX())), after = claimOf(op->getResult(0));
  OpBuilder builder(op);
  ShardingAttr whole = before.getSharding().withoutPartial();
  Value joined = insertJoin(builder, op, before.getGlobal(), whole, scatter.getX(), scatter.getReductionAttr(),
                            scatter.getAxesAttr());
  Value slice = insert<SliceOp>(builder, op, after.getGlobal(), after.getSharding(), joined, scatter.getDimAttr(),
                                scatter.getAxesAttr());
  op->getResult(0).replaceAllUsesWith(slice);
  op->erase();
  return true;
}

bool oneValueAtATime(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  if (!join || join.getXs().size() < 2)
    return false;
  OpBuilder builder(op);
  for (auto [x, y] : llvm::zip(join.getXs(), op->getResults()))
    y.replaceAllUsesWith(insertJoin(builder, op, claimOf(y).getGlobal(), claimOf(y).getSharding(), x,
                                    join.getReductionAttr(), join.getAxesAttr()));
  op->erase();
  return true;
}

/// Joins over one axis after the other, each value by itself.
static bool joinInTurn(Operation *op, ArrayRef<AxisRef> turns) {
  auto join = dyn_cast<AllReduceOp>(op);
  if (!join || turns.size() < 2)
    return false;
  OpBuilder builder(op);
  for (auto [x, y] : llvm::zip(join.getXs(), op->getResults())) {
    Value value = x;
    for (size_t i = 0; i < turns.size(); ++i)
      value = insertJoin(builder, op, claimOf(y).getGlobal(),
                         claimOf(y).getSharding().withPartial(turns.drop_front(i + 1), join.getReduction()), value,
                         join.getReductionAttr(), axesAttr(op, turns[i]));
    y.replaceAllUsesWith(value);
  }
  op->erase();
  return true;
}
bool oneAxisAtATime(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  return join && joinInTurn(op, SmallVector<AxisRef>(join.getAxes().getRefs()));
}
bool halvesOfAxis(Operation *op) {
  auto join = Join::of(op);
  if (!join || join->axes().size() != 1 || join->axes()[0].name != "tp" || meshOf(op).getAxisSize("tp") != 4)
    return false;
  return joinInTurn(op, {axis(op, "tp", 1, 2), axis(op, "tp", 2, 2)});
}

bool onceForEachUse(Operation *op) {
  if (!isa<AllReduceOp>(op) || op->getResult(0).use_empty() || op->getResult(0).hasOneUse())
    return false;
  OpBuilder builder(op);
  Operation *again = builder.clone(*op);
  usersInOrder(op).back()->replaceUsesOfWith(op->getResult(0), again->getResult(0));
  return true;
}

bool sliceAndGather(Operation *op) {
  auto join = Join::of(op);
  int64_t dim = join ? join->evenDim(join->axes()) : -1;
  if (dim < 0)
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value shard = insert<SliceOp>(builder, op, join->global, join->split(dim, join->axes()), join->y, number(op, dim),
                                join->op.getAxesAttr());
  Value whole = insert<AllGatherOp>(builder, op, join->global, join->after, shard, number(op, dim),
                                    join->op.getAxesAttr(), cause(op));
  join->y.replaceAllUsesExcept(whole, shard.getDefiningOp());
  return true;
}

bool exchangeOnTheWay(Operation *op) {
  auto join = Join::of(op);
  if (!join || join->global.getRank() < 2)
    return false;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < join->global.getRank(); ++dim)
    if (!isUneven(meshOf(op), join->global.getDimSize(dim), join->split(dim, join->axes()).getDims()[dim].axes))
      dims.push_back(dim);
  if (dims.size() < 2)
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  AxesAttr axes = join->op.getAxesAttr();
  Value shard = insert<SliceOp>(builder, op, join->global, join->split(dims[0], join->axes()), join->y,
                                number(op, dims[0]), axes);
  Value other = insert<AllToAllOp>(builder, op, join->global, join->split(dims[1], join->axes()), shard,
                                   number(op, dims[1]), number(op, dims[0]), axes, cause(op));
  Value whole =
      insert<AllGatherOp>(builder, op, join->global, join->after, other, number(op, dims[1]), axes, cause(op));
  join->y.replaceAllUsesExcept(whole, shard.getDefiningOp());
  return true;
}

bool scatterSummands(Operation *op) {
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  auto add = scatter ? scatter.getX().getDefiningOp<nn::AddOp>() : nn::AddOp();
  if (!add || !add->hasOneUse() || add.getA().getType() != add.getB().getType())
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  OpBuilder builder(op);
  SmallVector<Value> parts;
  for (Value summand : {add.getA(), add.getB()})
    parts.push_back(insert<ReduceScatterOp>(builder, op, said.getGlobal(), said.getSharding(), summand,
                                            scatter.getDimAttr(), scatter.getReductionAttr(), scatter.getAxesAttr(),
                                            cause(op)));
  op->getResult(0).replaceAllUsesWith(
      insert<nn::AddOp>(builder, op, said.getGlobal(), said.getSharding(), parts[0], parts[1]));
  op->erase();
  add.erase();
  return true;
}

bool maskTwice(Operation *op) {
  if (!isa<MaskOp>(op))
    return false;
  OpBuilder builder(op);
  op->setOperand(0, builder.clone(*op)->getResult(0));
  return true;
}

bool joinOverOneDevice(Operation *op) {
  auto join = Join::of(op);
  if (!join || meshOf(op).getAxisSize("dp") != 1 || llvm::is_contained(join->axes(), axis(op, "dp")))
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value again = insertJoin(builder, op, join->global, join->after, join->y, join->op.getReductionAttr(),
                           axesAttr(op, axis(op, "dp")));
  join->y.replaceAllUsesExcept(again, again.getDefiningOp());
  return true;
}

/// Changes the claim of the first result by `change`; false if that changes nothing.
static bool reclaim(Operation *op, llvm::function_ref<ShardingAttr(ShardAttr)> change) {
  if (op->getNumResults() == 0 || !claimOf(op->getResult(0)))
    return false;
  SmallVector<Attribute> all(op->getAttrOfType<ArrayAttr>("shardings").getValue());
  auto said = cast<ShardAttr>(all[0]);
  ShardingAttr changed = change(said);
  if (changed == said.getSharding())
    return false;
  all[0] = ShardAttr::get(op->getContext(), said.getGlobal(), changed);
  nn::setShardings(op, all);
  return true;
}

bool partialBackwards(Operation *op) {
  return reclaim(op, [](ShardAttr said) {
    SmallVector<AxisRef> refs(llvm::reverse(said.getSharding().getPartial()));
    return said.getSharding().withPartial(refs, said.getSharding().getReduction());
  });
}

bool splitInHalves(Operation *op) {
  MeshOp mesh = meshOf(op);
  if (mesh.getAxisSize("tp") != 4)
    return false;
  return reclaim(op, [&](ShardAttr said) {
    ShardingAttr sharding = said.getSharding();
    for (int64_t dim = 0; dim < said.getGlobal().getRank(); ++dim) {
      ArrayRef<AxisRef> axes = sharding.getDims()[dim].axes;
      if (!isUneven(mesh, said.getGlobal().getDimSize(dim), axes) && axes.size() == 1 && axes[0] == axis(op, "tp"))
        sharding = sharding.withDim(dim, {axis(op, "tp", 1, 2), axis(op, "tp", 2, 2)});
    }
    return sharding;
  });
}
} // namespace hocket::testing
