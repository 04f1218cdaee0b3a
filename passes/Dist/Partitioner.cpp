// The partitioner: local ops, and what stands between them.
#include "passes/Dist/Partitioner.h"
#include "passes/Dist/RingAttention.h"
using namespace mlir;

namespace hocket::dist {

LogicalResult Partitioner::run(Region &region) {
  SmallVector<Operation *> globals;
  for (Operation &op : region.front())
    globals.push_back(&op);
  bool sound = true;
  for (Operation *op : globals)
    sound &= succeeded(partition(op));
  if (!sound)
    return failure();
  for (Operation *op : llvm::reverse(globals))
    op->erase();
  return success();
}

RankedTensorType Partitioner::localTypeOf(RankedTensorType global, const Spread &spread) {
  return localType(atoms.getMesh(), global, propagation.toSharding(spread));
}

static ShardAttr shardOf(RankedTensorType global, ShardingAttr sharding) {
  return ShardAttr::get(global.getContext(), global, sharding);
}

void Partitioner::placeLike(Operation *made, Operation *origin, RankedTensorType global, const Spread &spread) {
  for (StringRef name : {"path", "phase"})
    if (Attribute attribute = origin->getAttr(name))
      made->setAttr(name, attribute);
  nn::setShardings(made,
                   SmallVector<Attribute>(made->getNumResults(), shardOf(global, propagation.toSharding(spread))));
}

LogicalResult Partitioner::partition(Operation *op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> local = operandFor(operand);
    if (failed(local))
      return failure();
    operands.push_back(*local);
  }
  if (auto region = dyn_cast<LocalOp>(op)) {
    partitionRegion(region, operands);
    return success();
  }
  OpBuilder builder(op);
  IRMapping mapping;
  Operation *local = builder.insert(op->cloneWithoutRegions());
  for (auto [from, to] : llvm::zip(op->getRegions(), local->getRegions()))
    from.cloneInto(&to, mapping);
  local->setOperands(operands);
  SmallVector<Attribute> shardings;
  for (auto [global, result] : llvm::zip(op->getResults(), local->getResults())) {
    Spread spread = propagation.natural(global);
    auto type = cast<RankedTensorType>(global.getType());
    result.setType(localTypeOf(type, spread));
    shardings.push_back(shardOf(type, propagation.toSharding(spread)));
    locals[global] = result;
  }
  tails[local] = local;
  if (auto write = dyn_cast<nn::WriteOp>(op))
    shardings.push_back(shardOf(write.getValue().getType(),
                                propagation.toSharding(propagation.atRest(propagation.getGraph().slotOf(op)))));
  nn::setShardings(local, shardings);
  if (auto at = propagation.getGraph().opIndex.find(op); at != propagation.getGraph().opIndex.end())
    setOffset(local, at->second);
  sendAround(op, local);
  return success();
}

/// Attention in a ring, where its sequence is split: over the blocks of all ranks instead of the rank's own.
void Partitioner::sendAround(Operation *op, Operation *local) {
  if (!local->hasAttr("ring") || !isa<nn::AttentionOp, nn::AttentionGradOp>(local))
    return;
  int index = propagation.getGraph().opIndex.lookup(op);
  SmallVector<AxisRef> refs = atoms.toRefs(propagation.factor(index, propagation.getGraph().ops[index].rule.find("s")));
  if (refs.empty())
    return;
  auto axes = AxesAttr::get(op->getContext(), refs);
  tails.erase(local);
  SmallVector<Value> results = emitRing(local, atoms.getMesh(), axes, causes.ofRing(op, refs));
  for (auto [global, result] : llvm::zip(op->getResults(), results)) {
    locals[global] = result;
    tails[result.getDefiningOp()] = result.getDefiningOp();
  }
}

/// A value that is made of nothing (positions) is made as it is needed: no rank has to send it.
Value Partitioner::makeAgain(Value value, const Spread &to) {
  int index = propagation.getGraph().opIndex.lookup(value.getDefiningOp());
  Operation *made = locals.lookup(value).getDefiningOp();
  OpBuilder builder(made->getContext());
  builder.setInsertionPointAfter(made);
  Operation *again = builder.clone(*value.getDefiningOp());
  auto type = cast<RankedTensorType>(value.getType());
  again->getResult(0).setType(localTypeOf(type, to));
  nn::setShardings(again, shardOf(type, propagation.toSharding(to)));
  const StepOp &op = propagation.getGraph().ops[index];
  for (auto [dim, factor] : llvm::enumerate(op.rule.results[0]))
    if (op.rule.factors[factor].needsOffset)
      giveOffset(again, factor, op.rule.factors[factor].size, atoms.toRefs(to.dims[dim]));
  return again->getResult(0);
}

FailureOr<Value> Partitioner::operandFor(OpOperand &use) {
  const StepGraph &graph = propagation.getGraph();
  Operation *op = use.getOwner();
  if (!isa<RankedTensorType>(use.get().getType()))
    return locals.lookup(use.get());
  FailureOr<Value> local = reshard(use, propagation.need(use));
  auto at = graph.opIndex.find(op);
  if (failed(local) || at == graph.opIndex.end())
    return local;
  return mask(use, *local, graph.ops[at->second], at->second);
}

FailureOr<Value> Partitioner::reshard(OpOperand &use, const Spread &to) {
  Value value = use.get();
  Spread from = propagation.natural(value);
  Value local = locals.lookup(value);
  if (from.dims == to.dims && from.partial == to.partial)
    return local;
  if (isa<nn::PositionsOp>(value.getDefiningOp())) {
    Value &again =
        resharded[{value.getAsOpaquePointer(), propagation.toSharding(to).getAsOpaquePointer(), false}].local;
    return again ? again : again = makeAgain(value, to);
  }
  FailureOr<SmallVector<ReshardStep>> steps = planReshard(atoms, cast<RankedTensorType>(value.getType()), from, to);
  if (failed(steps)) {
    InFlightDiagnostic diag = use.getOwner()->emitOpError()
                              << "needs a value as " << propagation.toSharding(to) << " that is made as "
                              << propagation.toSharding(from) << "; a whole value is never made partial";
    diag.attachNote(value.getLoc()) << "made here";
    return failure();
  }
  bool atUse = policy.isMadeAgain(value, *steps);
  nn::Phase phase = nn::getPhase(use.getOwner());
  Resharded &known = resharded[{value.getAsOpaquePointer(), propagation.toSharding(to).getAsOpaquePointer(),
                                atUse && phase != nn::Phase::Forward}];
  if (known.local) {
    if (atUse && phase == nn::Phase::Backward) // made for weight_grad, which may be a body of its own, after backward
      for (Operation *made : known.ops)
        nn::setPhase(made, phase);
    return known.local;
  }
  for (const ReshardStep &step : *steps) {
    local = emit(value, use, step, local, atUse);
    known.ops.push_back(local.getDefiningOp());
  }
  return known.local = local;
}

static ReductionAttr reductionAttr(MLIRContext *context, Reduction reduction) {
  return ReductionAttr::get(context, reduction);
}

Value Partitioner::emit(Value value, OpOperand &use, const ReshardStep &step, Value local, bool atUse) {
  Operation *maker = locals.lookup(value).getDefiningOp();
  OpBuilder builder(use.getOwner());
  if (!atUse)
    builder.setInsertionPointAfter(tails[maker]);
  auto global = cast<RankedTensorType>(value.getType());
  RankedTensorType type = localTypeOf(global, step.after);
  MLIRContext *context = builder.getContext();
  auto axes = AxesAttr::get(context, atoms.toRefs(step.axes));
  auto dim = builder.getI64IntegerAttr(step.dim);
  auto reduction = reductionAttr(context, propagation.natural(value).reduction);
  Location loc = value.getLoc();
  StringAttr cause;
  if (step.kind != ReshardKind::Slice)
    cause = builder.getStringAttr(causes.of(value, use, step));
  Operation *made = nullptr;
  switch (step.kind) {
  case ReshardKind::AllReduce:
    made = nn::make<AllReduceOp>(builder, loc, TypeRange{type}, ValueRange{local}, reduction, axes, DenseI64ArrayAttr(),
                                 cause);
    break;
  case ReshardKind::ReduceScatter:
    made = nn::make<ReduceScatterOp>(builder, loc, type, local, dim, reduction, axes, cause);
    break;
  case ReshardKind::AllGather:
    made = nn::make<AllGatherOp>(builder, loc, type, local, dim, axes, cause);
    break;
  case ReshardKind::AllToAll:
    made = nn::make<AllToAllOp>(builder, loc, type, local, dim, builder.getI64IntegerAttr(step.gatherDim), axes, cause);
    break;
  case ReshardKind::Slice:
    made = nn::make<SliceOp>(builder, loc, type, local, dim, axes);
    break;
  }
  placeLike(made, atUse ? use.getOwner() : value.getDefiningOp(), global, step.after);
  if (!atUse)
    tails[maker] = made;
  return made->getResult(0);
}

/// Masks the padding of dimensions whose factor the op reduces. Factors indexed by global numbers need none: a number
/// never points past the end of its dimension (but between the shards of nested uneven splits there is padding too).
Value Partitioner::mask(OpOperand &use, Value local, const StepOp &op, int index) {
  auto global = cast<RankedTensorType>(use.get().getType());
  if (!isa<FloatType>(global.getElementType()))
    return local;
  for (auto [dim, factor] : llvm::enumerate(op.rule.operands[use.getOperandNumber()])) {
    SmallVector<AxisRef> refs = atoms.toRefs(propagation.factor(index, factor));
    bool reduced = llvm::any_of(op.rule.results, [&](auto &term) { return !llvm::is_contained(term, factor); });
    bool indexed = op.rule.factors[factor].needsOffset && refs.size() <= 1;
    if (!reduced || indexed || !isUneven(atoms.getMesh(), global.getDimSize(static_cast<unsigned>(dim)), refs))
      continue;
    Value &known = masked[{local.getAsOpaquePointer(), dim, op.rule.padding, nn::getPhase(op.op)}];
    if (!known) {
      OpBuilder builder(op.op);
      known = nn::make<MaskOp>(builder, op.op->getLoc(), local.getType(), local,
                               builder.getI64IntegerAttr(static_cast<int64_t>(dim)),
                               builder.getI64IntegerAttr(global.getDimSize(static_cast<unsigned>(dim))),
                               AxesAttr::get(builder.getContext(), refs), builder.getF64FloatAttr(op.rule.padding));
      placeLike(known.getDefiningOp(), op.op, global, propagation.need(use));
    }
    local = known;
  }
  return local;
}

void Partitioner::setOffset(Operation *local, int index) {
  const nn::FactorRule &rule = propagation.getGraph().ops[index].rule;
  for (auto [factor, info] : llvm::enumerate(rule.factors))
    if (info.needsOffset)
      giveOffset(local, static_cast<int64_t>(factor), info.size,
                 atoms.toRefs(propagation.factor(index, static_cast<int>(factor))));
}

void Partitioner::giveOffset(Operation *local, int64_t factor, int64_t size, ArrayRef<AxisRef> refs) {
  if (refs.empty())
    return;
  OpBuilder builder(local);
  Value offset = OffsetOp::create(builder, local->getLoc(), builder.getI64Type(), builder.getI64IntegerAttr(size),
                                  AxesAttr::get(builder.getContext(), refs), IntegerAttr());
  cast<nn::FactorOpInterface>(local).setOffsetOperand(factor, offset);
}
} // namespace hocket::dist
