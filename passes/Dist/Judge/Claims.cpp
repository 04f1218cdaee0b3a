// Reads what a program claims of its values (labels C1 to C4).
#include "passes/Dist/Judge/Claims.h"
using namespace mlir;

namespace hocket::dist::judge {

InFlightDiagnostic Claims::fault(Operation *op) {
  faults = true;
  return op->emitOpError();
}

static std::string nameOf(Value value, AsmState &state) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, state);
  return text;
}

static AsmState &namesOf(std::unique_ptr<AsmState> &names, nn::TrainingStepOp step) {
  if (!names)
    names = std::make_unique<AsmState>(step);
  return *names;
}

std::string Claims::operandText(OpOperand &operand) {
  return "operand " + std::to_string(operand.getOperandNumber()) + " (" + nameOf(operand.get(), namesOf(names, step)) +
         ")";
}
std::string Claims::resultText(OpResult result) {
  return "result " + std::to_string(result.getResultNumber()) + " (" + nameOf(result, namesOf(names, step)) + ")";
}

void Claims::noteMaker(InFlightDiagnostic &diag, Value value) {
  const ValueState *state = of(value);
  diag.attachNote(value.getLoc()) << nameOf(value, namesOf(names, step)) << " is made here, "
                                  << (state ? describe(mesh, *state) : "unknown");
}

Padding Claims::padding(Value value, int64_t dim) const {
  auto found = paddings.find({value, dim});
  return found == paddings.end() ? Padding() : Padding(found->second);
}
void Claims::setPadding(Value value, int64_t dim, Padding held) {
  if (held)
    paddings[{value, dim}] = *held;
}

void Claims::read() {
  collectAxes();
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    readSlot(slot);
  for (Region *region : {&step.getBegin(), &step.getMicrobatch(), &step.getUpdate(), &step.getEvaluate()})
    for (Operation &op : region->front())
      readResults(&op);
}

// ---- axes
void Claims::collectAxes(Operation *op, ArrayRef<AxisRef> refs) {
  for (const AxisRef &ref : refs)
    if (std::string text = mesh.add(ref); !text.empty())
      fault(op) << "names axes " << axesText(refs) << ", but " << text; // C1
}

void Claims::collectAxes() {
  auto collectSharding = [&](Operation *op, Attribute said) {
    auto shard = dyn_cast_or_null<ShardAttr>(said);
    if (!shard || shard.getSharding().getMesh().getAttr() != mesh.getMesh().getSymNameAttr())
      return;
    for (const DimSharding &dim : shard.getSharding().getDims())
      collectAxes(op, dim.axes);
    collectAxes(op, shard.getSharding().getPartial());
  };
  step->walk([&](Operation *op) {
    if (auto slot = dyn_cast<nn::SlotOp>(op))
      collectSharding(op, slot.getShardingAttr());
    if (auto all = op->getAttrOfType<ArrayAttr>("shardings"))
      for (Attribute said : all)
        collectSharding(op, said);
    if (auto axes = op->getAttrOfType<AxesAttr>("axes"))
      collectAxes(op, axes.getRefs());
  });
  if (std::string text = mesh.finish(); !text.empty())
    fault(step) << text; // C1
}

// ---- claims
std::optional<ValueState> Claims::readShard(Operation *op, Attribute said, Type type, const std::string &what) {
  auto shard = dyn_cast_or_null<ShardAttr>(said);
  if (!shard) {
    fault(op) << "does not say what " << what
              << " is a shard of; every value of a local program carries #dist.shard"; // C2
    return {};
  }
  ShardingAttr sharding = shard.getSharding();
  if (sharding.getMesh().getAttr() != mesh.getMesh().getSymNameAttr()) {
    fault(op) << "places " << what << " on mesh " << sharding.getMesh() << ", but the step runs on @"
              << mesh.getMesh().getSymName(); // C3
    return {};
  }
  ValueState state{shard.getGlobal(), {}, {}, sharding.getReduction()};
  for (const DimSharding &dim : sharding.getDims()) {
    if (!mesh.sound(dim.axes))
      return {};
    state.dims.push_back(mesh.cuts(dim.axes));
  }
  if (!mesh.sound(sharding.getPartial()))
    return {};
  state.addPartial(mesh.of(sharding.getPartial()));
  if (RankedTensorType local = localType(mesh.getMesh(), shard.getGlobal(), sharding); local != type)
    fault(op) << "gives " << what << " the type " << type << ", but a shard of " << shard.getGlobal() << " that is "
              << describe(mesh, state) << " is " << local; // C4
  return state;
}

nn::SlotOp Claims::slotNamed(nn::SlotKind kind, StringRef name) const {
  auto found = named.find({kind, name});
  return found == named.end() ? nn::SlotOp() : found->second;
}

void Claims::readSlot(nn::SlotOp slot) {
  named.try_emplace({slot.getKind(), slot.getName()}, slot);
  std::string what = (stringifySlotKind(slot.getKind()) + " '" + slot.getName() + "'").str();
  if (auto state = readShard(slot, slot.getShardingAttr(), slot.getType(), what))
    slots.try_emplace(slot, *state);
}

void Claims::readResults(Operation *op) {
  if (auto write = dyn_cast<nn::WriteOp>(op)) {
    auto said = write.getShardingsAttr();
    if (said && !said.empty() && isa<ShardAttr>(said[0]))
      if (auto state = readShard(op, said[0], write.getValue().getType(), "the value that it stores"))
        writes.try_emplace(op, *state);
    return;
  }
  for (OpResult result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      if (auto state = readShard(op, nn::getSharding(result), result.getType(),
                                 "result " + std::to_string(result.getResultNumber())))
        states.try_emplace(result, *state);
}
} // namespace hocket::dist::judge
