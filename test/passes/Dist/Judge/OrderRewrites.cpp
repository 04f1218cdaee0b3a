// The same work in another order or number: joins of sums, messages of several values, ops made again.
#include "test/passes/Dist/Judge/Claimed.h"
#include "test/passes/Dist/Judge/Rewrites.h"

namespace hocket::testing {

static AllReduceOp joinOfOne(Value value) {
  auto join = value.getDefiningOp<AllReduceOp>();
  return join && join.getXs().size() == 1 ? join : AllReduceOp();
}

/// all_reduce(a + b) as all_reduce(a) + all_reduce(b).
bool joinSummands(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  auto add = join && join.getXs().size() == 1 ? join.getXs()[0].getDefiningOp<nn::AddOp>() : nn::AddOp();
  if (!add || !add->hasOneUse() || add.getA().getType() != add.getB().getType())
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  OpBuilder builder(op);
  SmallVector<Value> parts;
  for (Value summand : {add.getA(), add.getB()})
    parts.push_back(insertJoin(builder, op, said.getGlobal(), said.getSharding(), summand, join.getReductionAttr(),
                               join.getAxesAttr()));
  op->getResult(0).replaceAllUsesWith(
      insert<nn::AddOp>(builder, op, said.getGlobal(), said.getSharding(), parts[0], parts[1]));
  op->erase();
  add.erase();
  return true;
}

/// The all_reduce before `second` over the same axes whose value nobody uses in between.
static AllReduceOp previousLike(AllReduceOp second) {
  for (Operation *previous = second->getPrevNode(); previous; previous = previous->getPrevNode())
    if (auto join = dyn_cast<AllReduceOp>(previous); join && join.getAxes() == second.getAxes())
      return llvm::all_of(join->getUsers(), [&](Operation *user) { return second->isBeforeInBlock(user); })
                 ? join
                 : AllReduceOp();
  return {};
}
/// all_reduce(a), all_reduce(b) as all_reduce(a, b), where both are ready before either is used.
bool twoValuesAtOnce(Operation *op) {
  auto second = dyn_cast<AllReduceOp>(op);
  auto first = second ? previousLike(second) : AllReduceOp();
  if (!first || first.getXs().size() != 1 || second.getXs().size() != 1 || first.getAxes() != second.getAxes() ||
      first.getReduction() != second.getReduction() || nn::getPhase(first) != nn::getPhase(second) ||
      second.getXs()[0] == first.getYs()[0])
    return false;
  OpBuilder builder(second);
  Value xs[] = {first.getXs()[0], second.getXs()[0]};
  auto both = nn::make<AllReduceOp>(builder, op->getLoc(), TypeRange(ValueRange(xs)), ValueRange(xs),
                                    first.getReductionAttr(), first.getAxesAttr(), DenseI64ArrayAttr(), cause(op));
  both->setAttr("phase", nn::PhaseAttr::get(op->getContext(), nn::getPhase(op)));
  nn::setShardings(both, {claimOf(first->getResult(0)), claimOf(second->getResult(0))});
  first.getYs()[0].replaceAllUsesWith(both.getYs()[0]);
  second.getYs()[0].replaceAllUsesWith(both.getYs()[1]);
  second.erase();
  first.erase();
  return true;
}

/// {"dp", "tp"} joins what {"tp", "dp"} does.
bool joinedAxesBackwards(Operation *op) {
  auto join = dyn_cast<AllReduceOp>(op);
  if (!join || join.getAxes().getRefs().size() < 2)
    return false;
  join.setAxesAttr(axesAttr(op, SmallVector<AxisRef>(llvm::reverse(join.getAxes().getRefs()))));
  return true;
}
bool halvesOfAxisBackwards(Operation *op) {
  AllReduceOp join = op->getNumResults() ? joinOfOne(op->getResult(0)) : AllReduceOp();
  if (!join || join.getAxes().getRefs() != ArrayRef(axis(op, "tp")) || meshOf(op).getAxisSize("tp") != 4)
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  AxisRef major = axis(op, "tp", 1, 2), minor = axis(op, "tp", 2, 2);
  OpBuilder builder(op);
  Value half = insertJoin(builder, op, said.getGlobal(), said.getSharding().withPartial(major, join.getReduction()),
                          join.getXs()[0], join.getReductionAttr(), axesAttr(op, minor));
  Value all =
      insertJoin(builder, op, said.getGlobal(), said.getSharding(), half, join.getReductionAttr(), axesAttr(op, major));
  op->getResult(0).replaceAllUsesWith(all);
  op->erase();
  return true;
}

/// Two ops next to one another, neither of which needs the other.
bool neighboursSwapped(Operation *op) {
  Operation *next = op->getNextNode();
  if (!next || isa<nn::ReadOp, nn::WriteOp>(op) || isa<nn::ReadOp, nn::WriteOp>(next) ||
      nn::getPhase(op) != nn::getPhase(next) ||
      llvm::any_of(next->getOperands(), [&](Value value) { return value.getDefiningOp() == op; }))
    return false;
  op->moveAfter(next);
  return true;
}
/// An op of the mathematics once more for its last user.
bool madeAgain(Operation *op) {
  if (!isa<nn::FactorOpInterface>(op) || op->getNumResults() != 1 || op->use_empty() || op->hasOneUse())
    return false;
  OpBuilder builder(op);
  Operation *again = builder.clone(*op);
  usersInOrder(op).back()->replaceUsesOfWith(op->getResult(0), again->getResult(0));
  return true;
}
bool offsetForEachUse(Operation *op) {
  if (!isa<OffsetOp>(op))
    return false;
  OpBuilder builder(op);
  bool first = true, changed = false;
  for (OpOperand &use : llvm::make_early_inc_range(op->getResult(0).getUses())) {
    if (!first)
      use.set(builder.clone(*op)->getResult(0)), changed = true;
    first = false;
  }
  return changed || !op->use_empty();
}
/// A mask of a dimension that has no padding does nothing, whatever it writes.
bool maskWithoutPadding(Operation *op) {
  if (!isa<nn::GeluOp, nn::SiluOp, nn::LinearOp>(op))
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  for (int64_t dim = 0; said && dim < said.getGlobal().getRank(); ++dim) {
    ArrayRef<AxisRef> axes = said.getSharding().getDims()[dim].axes;
    if (axes.empty() || !divides(op, said.getGlobal(), dim, said.getSharding()))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value masked = insert<MaskOp>(builder, op, said.getGlobal(), said.getSharding(), Value(op->getResult(0)),
                                  number(op, dim), number(op, said.getGlobal().getDimSize(static_cast<unsigned>(dim))),
                                  axesAttr(op, axes), builder.getF64FloatAttr(7));
    op->getResult(0).replaceAllUsesExcept(masked, masked.getDefiningOp());
    return true;
  }
  return false;
}
/// A claim that names an axis of one device.
bool splitOverOneDevice(Operation *op) {
  if (op->getNumResults() != 1 || !claimOf(op->getResult(0)) || meshOf(op).getAxisSize("dp") != 1)
    return false;
  ShardAttr said = claimOf(op->getResult(0));
  if (said.getGlobal().getRank() == 0 || uses(said.getSharding(), axis(op, "dp")))
    return false;
  claim(op, {splitFurther(said.getSharding(), 0, axis(op, "dp"))}, said.getGlobal());
  return true;
}
} // namespace hocket::testing
