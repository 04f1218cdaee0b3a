// Mutants by axes and by number: one axis more or less, another dimension, a join too many, a claim that fits the
// fault.
#include "test/passes/Dist/Judge/Claimed.h"
#include "test/passes/Dist/Judge/Rewrites.h"

namespace hocket::testing {

bool oneAxisLess(Operation *op) {
  auto axes = op->getAttrOfType<AxesAttr>("axes");
  if (!isa<AllReduceOp, OffsetOp, MaskOp>(op) || !axes || axes.getRefs().size() < 2)
    return false;
  op->setAttr("axes", axesAttr(op, axes.getRefs().drop_back()));
  return true;
}
bool oneAxisMore(Operation *op) {
  auto axes = op->getAttrOfType<AxesAttr>("axes");
  if (!isa<AllReduceOp>(op) || !axes)
    return false;
  for (auto each : meshOf(op).getAxes().getAsRange<MeshAxisAttr>()) {
    AxisRef more = axis(op, each.getName());
    if (each.getSize() == 1 || llvm::any_of(axes.getRefs(), [&](const AxisRef &ref) { return ref.name == more.name; }))
      continue;
    SmallVector<AxisRef> refs(axes.getRefs());
    refs.push_back(more);
    op->setAttr("axes", axesAttr(op, refs));
    return true;
  }
  return false;
}

/// A gather, a slice or a scatter of another dimension, where shapes do not tell.
bool otherDimension(Operation *op) {
  auto dim = op->getAttrOfType<IntegerAttr>("dim");
  if (!isa<AllGatherOp, SliceOp, ReduceScatterOp>(op) || !dim)
    return false;
  auto x = cast<RankedTensorType>(op->getOperand(0).getType()), y = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t other = 0; other < x.getRank(); ++other)
    if (other != dim.getInt() &&
        x.getDimSize(static_cast<unsigned>(other)) == x.getDimSize(static_cast<unsigned>(dim.getInt())) &&
        x.getNumElements() != y.getNumElements()) {
      SmallVector<int64_t> shape(x.getShape());
      shape[other] = y.getDimSize(static_cast<unsigned>(dim.getInt()));
      if (RankedTensorType::get(shape, y.getElementType()) != y)
        continue;
      op->setAttr("dim", number(op, other));
      return true;
    }
  return false;
}
/// An all_to_all that splits what it should gather.
bool exchangeBackwards(Operation *op) {
  auto exchange = dyn_cast<AllToAllOp>(op);
  if (!exchange || exchange.getX().getType() != exchange.getY().getType())
    return false;
  IntegerAttr split = exchange.getSplitDimAttr();
  exchange.setSplitDimAttr(exchange.getGatherDimAttr());
  exchange.setGatherDimAttr(split);
  return true;
}

/// A value that is partial is joined where it is made, and what follows joins it again: as the next op claims it.
bool joinTooEarly(Operation *op) {
  if (op->getNumResults() != 1 || isa<AllReduceOp>(op) || op->use_empty())
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  if (!said || !said.getSharding().isPartial())
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  ShardingAttr sharding = said.getSharding();
  Value joined =
      insertJoin(builder, op, said.getGlobal(), sharding, Value(op->getResult(0)),
                 ReductionAttr::get(op->getContext(), sharding.getReduction()), axesAttr(op, sharding.getPartial()));
  op->getResult(0).replaceAllUsesExcept(joined, joined.getDefiningOp());
  return true;
}
/// A join is dropped, and what it joined is claimed to be whole.
bool dropAndClaim(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  if (!join || join.getXs().size() != 1)
    return false;
  auto x = dyn_cast<OpResult>(join.getXs()[0]);
  if (!x || isa<nn::ReadOp>(x.getOwner()) || !claimOf(x))
    return false;
  SmallVector<Attribute> all(x.getOwner()->getAttrOfType<ArrayAttr>("shardings").getValue());
  all[x.getResultNumber()] = claimOf(op->getResult(0));
  nn::setShardings(x.getOwner(), all);
  op->replaceAllUsesWith(op->getOperands());
  op->erase();
  return true;
}
/// A slice of an operand that is partial, joined behind: rows of other ranks are lost, or counted twice.
bool sliceBeforeJoin(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto join = slice ? slice.getX().getDefiningOp<AllReduceOp>() : AllReduceOp();
  if (!join || join.getXs().size() != 1)
    return false;
  ShardAttr before = claimOf(cast<OpResult>(join.getXs()[0])), after = claimOf(op->getResult(0));
  OpBuilder builder(op);
  Value part = insert<SliceOp>(builder, op, before.getGlobal(),
                               after.getSharding().withPartial(join.getAxes().getRefs(), join.getReduction()),
                               join.getXs()[0], slice.getDimAttr(), slice.getAxesAttr());
  op->getResult(0).replaceAllUsesWith(insertJoin(builder, op, after.getGlobal(), after.getSharding(), part,
                                                 join.getReductionAttr(), join.getAxesAttr()));
  op->erase();
  return true;
}
/// One step around a ring less, or one more.
bool ringStep(Operation *op) {
  auto shift = dyn_cast<ShiftOp>(op);
  if (!shift)
    return false;
  op->replaceAllUsesWith(op->getOperands());
  op->erase();
  return true;
}
bool ringStepTwice(Operation *op) {
  if (!isa<ShiftOp>(op))
    return false;
  OpBuilder builder(op);
  op->setOperand(0, builder.clone(*op)->getResult(0));
  return true;
}
} // namespace hocket::testing
