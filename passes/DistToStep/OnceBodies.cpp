// Bodies of one stage that run once a step: begin; update and evaluate, in which stages exchange what not all know.
#include "passes/DistToStep/BodyEmitter.h"
#include "passes/DistToStep/FlatCollectives.h"
#include "passes/DistToStep/StageProgram.h"
#include "passes/DistToStep/UpdateHomes.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// The ops of a region that make what `wanted` ops need, in order.
static SmallVector<Operation *> sliceFor(Region &region, llvm::function_ref<bool(Operation *)> wanted) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> work;
  for (Operation &op : region.front())
    if (wanted(&op))
      work.push_back(&op);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!needed.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      work.push_back(operand.getDefiningOp());
  }
  SmallVector<Operation *> ordered;
  for (Operation &op : region.front())
    if (needed.contains(&op))
      ordered.push_back(&op);
  return ordered;
}

/// Zeroes the accumulators of this stage, and makes the values that its other bodies read (and all outputs).
void StageProgram::buildBegin() {
  Block *block = addBody(BodyKind::Begin);
  llvm::StringSet<> valuesRead;
  for (auto &[key, buffer] : slotBuffers)
    if (key.starts_with(nn::stringifySlotKind(nn::SlotKind::Value)))
      valuesRead.insert(key);
  BodyEmitter emitter(*this, builder);
  for (Operation &op : step.getSlots().front()) {
    auto slot = cast<nn::SlotOp>(op);
    auto adder = placement.accumulatorStage.find(slot.getName());
    if (slot.getKind() != nn::SlotKind::Accumulator || adder == placement.accumulatorStage.end() ||
        adder->second != stage)
      continue;
    auto found = slotBuffers.find((nn::stringifySlotKind(nn::SlotKind::Accumulator) + " " + slot.getName()).str());
    auto memref = cast<MemRefType>(found->second.getType());
    Value zeros = emitZeros(builder, slot.getLoc(), RankedTensorType::get(memref.getShape(), memref.getElementType()),
                            slot.getName());
    StoreOp::create(builder, slot.getLoc(), zeros, found->second);
  }
  for (Operation *op : sliceFor(step.getBegin(), [&](Operation *op) {
         auto write = dyn_cast<nn::WriteOp>(op);
         return write && (write.getKind() == nn::SlotKind::Output ||
                          valuesRead.contains((nn::stringifySlotKind(write.getKind()) + " " + write.getName()).str()));
       }))
    if (!isa<nn::ReadOp>(op))
      emitter.emit(op);
  // Begin is made last, when it is known what the others read, and stands first.
  Operation *body = block->getParentOp();
  if (body != firstBody) {
    body->moveBefore(firstBody);
    firstBody = body;
  }
}

namespace {
/// Emits the ops of update or evaluate that one stage runs.
struct OnceEmitter {
  OpBuilder &builder;
  BodyEmitter &emitter;
  const UpdateHomes &homes;
  unsigned stage, stages;
  dist::AxesAttr stageAxes;
  dist::MeshOp mesh;

  bool gives(Value value) const { return homes.giver(value) == stage; }
  Value ownOrZeros(Value value, StringRef path) {
    auto type = cast<RankedTensorType>(value.getType());
    return gives(value) ? emitter.get(value) : emitZeros(builder, value.getLoc(), type, path);
  }
  Value exchange(Operation *op, Value own, const Stages &among, StringRef cause) {
    SmallVector<int64_t> coordinates;
    if (!among.all())
      for (unsigned s : among.set_bits())
        coordinates.push_back(s);
    return emitAllReduce(builder, op->getLoc(), own, dist::Reduction::Sum, stageAxes, coordinates, cause,
                         nn::getPath(op), op->getAttrOfType<nn::PhaseAttr>("phase"));
  }
  void emit(Operation *op) {
    StringRef path = nn::getPath(op);
    for (const UpdateHomes::Spread &spread : homes.spreadsAt(op))
      emitter.set(spread.value, exchange(op, ownOrZeros(spread.value, path), spread.among,
                                         "one stage knows it, others need it for their copy of a parameter"));
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
      return emitOwn(reduce);
    if (!homes.joins(op))
      return emitter.emit(op);
    if (auto stack = dyn_cast<nn::StackOp>(op)) {
      SmallVector<Value> entries;
      for (Value entry : stack.getXs())
        entries.push_back(ownOrZeros(entry, path));
      auto own = nn::make<nn::StackOp>(builder, op->getLoc(), stack.getY().getType(), entries, stack.getDim());
      nn::setPath(own, path);
      Stages all(stages, true);
      return emitter.set(stack.getY(),
                         exchange(op, own, all, "each stage knows the loss and square sums of its own parameters"));
    }
    auto add = cast<nn::AddOp>(op);
    Value own = gives(add.getA()) ? emitter.get(add.getA()) : ownOrZeros(add.getB(), path);
    emitter.set(add.getY(),
                exchange(op, own, homes.of(add.getY()), ("parameter '" + path + "' is used by several stages").str()));
  }
  /// A reduction of several tensors, of which this stage has some.
  void emitOwn(dist::AllReduceOp reduce) {
    SmallVector<Value> ins, outs;
    for (auto [in, out] : llvm::zip_equal(reduce.getXs(), reduce.getYs()))
      if (homes.of(out).test(stage)) {
        ins.push_back(emitter.get(in));
        outs.push_back(out);
      }
    if (ins.empty())
      return;
    SmallVector<Type> types(ValueRange(ins).getTypes());
    OperationState state(reduce.getLoc(), reduce->getName(), ins, types, reduce->getAttrs());
    state.attributes.erase("shardings");
    Operation *own = builder.create(state);
    IRMapping map;
    map.map(ValueRange(ins), ValueRange(ins));
    lowerDistOp(builder, own, map, mesh);
    for (auto [result, out] : llvm::zip_equal(own->getResults(), outs))
      emitter.set(out, map.lookup(result));
    own->erase();
  }
};
} // namespace

LogicalResult StageProgram::buildOnce(Region &region, BodyKind kind) {
  FailureOr<UpdateHomes> homes = UpdateHomes::compute(region, placement);
  if (failed(homes))
    return failure();
  addBody(kind);
  BodyEmitter emitter(*this, builder);
  OnceEmitter once{builder, emitter, *homes, stage, placement.stages, stageAxes, mesh};
  auto runsHere = [&](Operation *op) { return homes->runsOn(op).test(stage); };
  auto ops = sliceFor(region, [&](Operation *op) {
    auto write = dyn_cast<nn::WriteOp>(op);
    return write ? write.getKind() == nn::SlotKind::Output || runsHere(op) : homes->joins(op) && runsHere(op);
  });
  for (Operation *op : ops) {
    if (isa<nn::ReadOp>(op))
      continue;
    if (auto write = dyn_cast<nn::WriteOp>(op);
        write && !homes->runsOn(op).all() && write.getKind() == nn::SlotKind::Output) {
      Stages all(placement.stages, true);
      Value own = once.ownOrZeros(write.getValue(), nn::getPath(op));
      emitter.set(write.getValue(), once.exchange(op, own, all, "one stage knows it, every rank reports it"));
      emitter.emit(op);
      continue;
    }
    if (isa<dist::AllReduceOp>(op) || runsHere(op)) // of a reduction each tensor on its own stages
      once.emit(op);
  }
  return success();
}
