// Trains by reference semantics.
#include "passes/Interpreter/Interpreter.h"
#include "runtime/Program/Random.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::interpreter {

Batch cutBatch(ArrayRef<int32_t> tokens, int64_t first, int64_t microbatches, int64_t rows, int64_t sequence) {
  int64_t shape[] = {microbatches, rows, sequence};
  Batch batch{HostTensor(shape), HostTensor(shape), {}};
  for (int64_t i = 0; i < batch.tokens.size(); ++i) {
    batch.tokens[i] = tokens[first * sequence + i];
    batch.labels[i] = tokens[first * sequence + i + 1];
  }
  return batch;
}

Interpreter::Interpreter(TrainingStepOp step, RankGrid grid, const LockstepOps *ops, SlotLayout layout,
                         Precision precision)
    : machine(step, std::move(grid), ops, precision), layout(std::move(layout)), precision(precision) {}

/// An input as the step has it: its sequence in zigzag order, where the slot says so.
static HostTensor ordered(SlotOp slot, const HostTensor &whole) {
  HostTensor tensor = whole;
  int64_t sequence = whole.rank() == 0 ? 1 : whole.shape.back();
  if (slot.getZigzag())
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor[i] =
          whole[i / sequence * sequence + zigzagToken(i % sequence, sequence, static_cast<int64_t>(*slot.getZigzag()))];
  return tensor;
}

void Interpreter::put(SlotOp slot, const HostTensor &given) {
  HostTensor whole = ordered(slot, given);
  machine.set({slot.getKind(), slot.getName().str()}, layout.scatter(slot, whole));
}

static HostTensor initialValue(SlotOp slot, RankedTensorType type, uint64_t seed) {
  HostTensor tensor(type.getShape());
  InitAttr init = slot.getInitAttr();
  double scale = init ? init.getScale().getValueAsDouble() : 0;
  InitKind kind = init ? init.getKind() : InitKind::Zeros;
  if (kind == InitKind::Ones || kind == InitKind::Constant)
    tensor = HostTensor(type.getShape(), kind == InitKind::Ones ? 1 : scale);
  if (kind == InitKind::Normal) {
    uint64_t stream = program::streamOf(slot.getName());
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor[i] = scale * program::standardNormal(seed, stream, i);
  }
  return tensor;
}

void Interpreter::initialize(uint64_t from) {
  stepNumber = 0;
  seed = from;
  for (auto slot : machine.step().getSlots().getOps<SlotOp>())
    if (livesAcrossSteps(slot.getKind())) {
      HostTensor value = initialValue(slot, layout.globalType(slot), seed);
      if (precision == Precision::Declared) // by way of f32, as the runtime: a parameter is its master, rounded
        round(Precision::Float32, slot.getType(), value);
      round(precision, slot.getType(), value);
      put(slot, value);
    }
}

bool Interpreter::setState(SlotKind kind, StringRef name, const HostTensor &whole) {
  SlotOp slot = machine.step().findSlot(kind, name);
  if (!slot || layout.globalType(slot).getShape() != ArrayRef<int64_t>(whole.shape))
    return false;
  put(slot, whole);
  return true;
}

/// The model's arguments are the first input slots; `NAME.all` stands beside the labels.
StringRef Interpreter::argument(int64_t index) {
  for (auto slot : machine.step().getSlots().getOps<SlotOp>()) {
    if (slot.getKind() != SlotKind::Input || slot.getName() == "step" || slot.getName() == "draws" ||
        slot.getName().ends_with(".all"))
      continue;
    if (index-- == 0)
      return slot.getName();
  }
  return {};
}

LogicalResult Interpreter::begin(const Batch &batch) {
  TrainingStepOp step = machine.step();
  for (auto slot : step.getSlots().getOps<SlotOp>())
    if (slot.getKind() == SlotKind::Accumulator)
      machine.set({slot.getKind(), slot.getName().str()},
                  PerRank(machine.ranks().ranks(), HostTensor(cast<RankedTensorType>(slot.getType()).getShape())));
  if (SlotOp all = step.findSlot(SlotKind::Input, (argument(1) + ".all").str()))
    put(all, batch.labels);
  if (SlotOp number = step.findSlot(SlotKind::Input, "step"))
    put(number, HostTensor(ArrayRef<int64_t>(), static_cast<double>(stepNumber)));
  return machine.run(step.getBegin());
}

static HostTensor slice(const HostTensor &all, int64_t index) {
  HostTensor one(ArrayRef<int64_t>(all.shape).drop_front());
  std::copy_n(all.data.begin() + index * one.size(), one.size(), one.data.begin());
  return one;
}

/// What the runtime gives for `rows` sequences of a microbatch; 0, which drops nothing, where nothing is trained.
HostTensor Interpreter::drawsOf(int64_t rows, int64_t microbatch, bool forwardOnly) const {
  HostTensor draws(ArrayRef<int64_t>{rows});
  for (int64_t row = 0; row < rows && !forwardOnly; ++row)
    draws[row] = program::sequenceDraw(seed, static_cast<uint64_t>(stepNumber), microbatch * rows + row);
  return draws;
}

LogicalResult Interpreter::microbatches(const Batch &batch, bool forwardOnly) {
  TrainingStepOp step = machine.step();
  SlotOp tokens = step.findSlot(SlotKind::Input, argument(0)), labels = step.findSlot(SlotKind::Input, argument(1));
  SlotOp documents = step.findSlot(SlotKind::Input, argument(2)); // null if the model does not read them
  SlotOp draws = step.findSlot(SlotKind::Input, "draws");         // null if it drops nothing
  for (int64_t i = 0, count = step.getMicrobatches(); i < count; ++i) {
    put(tokens, slice(batch.tokens, i));
    put(labels, slice(batch.labels, i));
    if (documents)
      put(documents, slice(batch.documents, i));
    if (draws)
      put(draws, drawsOf(layout.globalType(draws).getDimSize(0), i, forwardOnly));
    if (failed(machine.run(step.getMicrobatch(), forwardOnly)))
      return failure();
  }
  return success();
}

FailureOr<double> Interpreter::output(StringRef name) {
  SlotOp slot = machine.step().findSlot(SlotKind::Output, name);
  const PerRank *value = machine.get({SlotKind::Output, name.str()});
  if (!slot || !value)
    return machine.step().emitError() << "output '" << name << "' is not written";
  FailureOr<HostTensor> whole = layout.gather(slot, *value);
  if (failed(whole))
    return failure();
  return (*whole)[0];
}

FailureOr<StepResult> Interpreter::train(const Batch &batch) {
  ++stepNumber;
  if (failed(begin(batch)) || failed(microbatches(batch, /*forwardOnly=*/false)) ||
      failed(machine.run(machine.step().getUpdate())))
    return failure();
  StepResult result;
  std::pair<StringRef, double *> fields[] = {
      {"loss", &result.loss},          {"grad_norm", &result.gradNorm},   {"learning_rate", &result.learningRate},
      {"tokens", &result.tokens},      {"loss_scale", &result.lossScale}, {"skipped", &result.skipped},
      {"exhausted", &result.exhausted}};
  for (auto [name, field] : fields) {
    if (!machine.step().findSlot(SlotKind::Output, name))
      continue;
    FailureOr<double> value = output(name);
    if (failed(value))
      return failure();
    *field = *value;
  }
  return result;
}

FailureOr<double> Interpreter::evaluate(const Batch &batch) {
  if (failed(begin(batch)) || failed(microbatches(batch, /*forwardOnly=*/true)) ||
      failed(machine.run(machine.step().getEvaluate())))
    return failure();
  FailureOr<double> sum = output("loss_sum"), count = output("tokens");
  if (failed(sum) || failed(count))
    return failure();
  return *sum / std::max(*count, 1.0);
}

FailureOr<HostTensor> Interpreter::state(SlotKind kind, StringRef name) {
  SlotOp slot = machine.step().findSlot(kind, name);
  const PerRank *value = machine.get({kind, name.str()});
  if (!slot || !value)
    return machine.step().emitError() << "the step holds no " << stringifySlotKind(kind) << " '" << name << "'";
  return layout.gather(slot, *value);
}

FailureOr<HostTensor> Interpreter::gradient(StringRef param) {
  FailureOr<HostTensor> sum = failure();
  for (auto slot : machine.step().getSlots().getOps<SlotOp>()) {
    if (slot.getKind() != SlotKind::Accumulator || slot.getName().split('#').first != param)
      continue;
    FailureOr<HostTensor> part = state(slot.getKind(), slot.getName());
    if (failed(part))
      return failure();
    if (failed(sum))
      sum = std::move(part);
    else
      for (int64_t i = 0; i < sum->size(); ++i)
        (*sum)[i] += (*part)[i];
  }
  if (failed(sum))
    return machine.step().emitError() << "the step has no gradient of '" << param << "'";
  return sum;
}

SmallVector<std::string> Interpreter::parameters(bool trainedOnly) {
  SmallVector<std::string> names;
  for (auto slot : machine.step().getSlots().getOps<SlotOp>())
    if (slot.getKind() == (trainedOnly ? SlotKind::FirstMoment : SlotKind::Param))
      names.push_back(slot.getName().str());
  return names;
}
} // namespace hocket::interpreter
