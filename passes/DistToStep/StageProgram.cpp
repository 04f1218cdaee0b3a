// Buffers, bodies and messages of one stage.
#include "passes/DistToStep/StageProgram.h"
#include "passes/DistToStep/BodyEmitter.h"
#include "passes/DistToStep/FlatCollectives.h"
#include "passes/DistToStep/ValueNames.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

FailureOr<SmallVector<Crossing>> hocket::step::findCrossings(nn::TrainingStepOp step, const StagePlacement &placement) {
  SmallVector<Crossing> crossings;
  bool failed = false;
  for (Operation &op : step.getMicrobatch().front()) {
    auto home = placement.virtualStageOf.find(&op);
    if (home == placement.virtualStageOf.end())
      continue;
    bool forward = nn::getPhase(&op) == nn::Phase::Forward;
    for (Value result : op.getResults()) {
      unsigned last = home->second;
      for (Operation *user : result.getUsers()) {
        auto it = placement.virtualStageOf.find(user);
        if (it == placement.virtualStageOf.end() || it->second == home->second)
          continue;
        bool onTheWay =
            forward ? it->second > home->second && nn::getPhase(user) == nn::Phase::Forward : it->second < home->second;
        if (!onTheWay && !(forward && it->second > home->second)) {
          auto error = user->emitError() << "on stage " << placement.places[it->second].stage
                                         << " uses a value of stage " << placement.places[home->second].stage << "; "
                                         << (forward ? "forward values go to later stages only"
                                                     : "gradients go to earlier stages only");
          error.attachNote(op.getLoc()) << "made here";
          failed = true;
          continue;
        }
        last = forward ? std::max(last, it->second) : std::min(last, it->second);
      }
      if (last != home->second)
        crossings.push_back({result, home->second, last});
    }
  }
  return failed ? FailureOr<SmallVector<Crossing>>(failure()) : crossings;
}

StageProgram::StageProgram(OpBuilder &builder, nn::TrainingStepOp step, const StagePlacement &placement, unsigned stage,
                           bool splitWeightGrad, dist::MeshOp mesh, dist::AxesAttr stageAxes,
                           ArrayRef<Crossing> crossings, const llvm::DenseMap<Value, std::string> &names)
    : builder(builder), step(step), placement(placement), stage(stage), splitWeightGrad(splitWeightGrad),
      chains(placement.problem()), mesh(mesh), stageAxes(stageAxes), crossings(crossings), names(names) {
  if (splitWeightGrad)
    weightGradWork = WeightGradWork(step.getMicrobatch().front(), placement, stage);
}

Value StageProgram::addBuffer(Location loc, StringRef name, MemoryClass memory, Space space, RankedTensorType type,
                              nn::SlotKindAttr slot, nn::InitAttr init, Attribute shard) {
  OpBuilder::InsertionGuard guard(builder);
  if (firstBody)
    builder.setInsertionPoint(firstBody);
  else
    builder.setInsertionPointToEnd(&program.getBody().front());
  auto memref = MemRefType::get(type.getShape(), type.getElementType());
  return BufferOp::create(builder, loc, memref, name, memory, space, IntegerAttr(), slot, init, IntegerAttr(),
                          dyn_cast_or_null<dist::ShardAttr>(shard));
}

static MemoryClass memoryOf(nn::SlotKind kind, RankedTensorType type) {
  switch (kind) {
  case nn::SlotKind::Param:
    return MemoryClass::Parameter;
  case nn::SlotKind::FirstMoment:
  case nn::SlotKind::SecondMoment:
  case nn::SlotKind::Master:
    return MemoryClass::OptimizerState;
  case nn::SlotKind::State:
    return MemoryClass::Scalar;
  case nn::SlotKind::Accumulator:
    return MemoryClass::Accumulator;
  case nn::SlotKind::Input:
    return MemoryClass::Input;
  case nn::SlotKind::Value: // a tensor is the copy of a parameter to compute with
    return type.getRank() ? MemoryClass::Parameter : MemoryClass::Scalar;
  case nn::SlotKind::Output:
    return type.getRank() ? MemoryClass::Workspace : MemoryClass::Scalar;
  }
  llvm_unreachable("slot kind");
}

Value StageProgram::slotBuffer(nn::SlotKind kind, StringRef name, RankedTensorType type) {
  Value &buffer = slotBuffers[(nn::stringifySlotKind(kind) + " " + name).str()];
  if (buffer)
    return buffer;
  nn::SlotOp slot = step.findSlot(kind, name);
  bool perMicrobatch = kind == nn::SlotKind::Input && type.getRank() > 0 && !name.ends_with(".all");
  std::string label = cleanName(name) + slotSuffix(kind, type.getRank()).str();
  Attribute shard = slot ? slot.getShardingAttr() : Attribute();
  buffer =
      addBuffer(slot ? slot.getLoc() : step.getLoc(), label, memoryOf(kind, type),
                perMicrobatch ? Space::Microbatch : Space::Arena, type,
                nn::SlotKindAttr::get(builder.getContext(), kind), slot ? slot.getInitAttr() : nn::InitAttr(), shard);
  if (slot)
    buffer.getDefiningOp<BufferOp>().setZigzagAttr(slot.getZigzagAttr());
  return buffer;
}

Value StageProgram::valueBuffer(Value value, unsigned chunk) {
  Value &buffer = valueBuffers[{value, chains.head(stage, chunk)}];
  if (buffer)
    return buffer;
  unsigned k = placement.virtualStage(stage, chunk);
  bool message = llvm::any_of(crossings, [&](const Crossing &c) {
    return c.value == value && std::min(c.first, c.last) <= k && k <= std::max(c.first, c.last);
  });
  buffer =
      addBuffer(value.getLoc(), names.lookup(value), message ? MemoryClass::Communication : MemoryClass::Activation,
                Space::Slot, cast<RankedTensorType>(value.getType()), {}, {}, nn::getSharding(cast<OpResult>(value)));
  return buffer;
}

/// The body of a microbatch that runs an op, the first one of two.
BodyKind StageProgram::bodyOf(Operation *op) const {
  nn::Phase phase = nn::getPhase(op);
  if (phase == nn::Phase::Forward)
    return BodyKind::Forward;
  if (weightGradWork.only.contains(op))
    return BodyKind::WeightGrad;
  return phase == nn::Phase::WeightGrad && splitWeightGrad ? BodyKind::WeightGrad : BodyKind::Backward;
}

bool StageProgram::runsIn(Operation *op, BodyKind kind) const {
  return bodyOf(op) == kind || (kind == BodyKind::WeightGrad && weightGradWork.twice.contains(op));
}

/// Which values of the chunk in hand lie in its slot between bodies: those that another body uses, and what is sent.
void StageProgram::findKept() {
  auto leavesBody = [&](Operation *maker, Operation *user) {
    return llvm::any_of(ArrayRef({BodyKind::Forward, BodyKind::Backward, BodyKind::WeightGrad}),
                        [&](BodyKind kind) { return runsIn(user, kind) && !runsIn(maker, kind); });
  };
  for (Operation &op : step.getMicrobatch().front()) {
    auto home = placement.virtualStageOf.find(&op);
    if (home == placement.virtualStageOf.end() || home->second != here())
      continue;
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            auto it = placement.virtualStageOf.find(user);
            return it != placement.virtualStageOf.end() && it->second == here() && leavesBody(&op, user);
          }))
        kept.insert(result);
  }
  for (const Crossing &crossing : crossings)
    if (crossing.first == here())
      kept.insert(crossing.value);
}

Block *StageProgram::addBody(BodyKind kind) {
  builder.setInsertionPointToEnd(&program.getBody().front());
  auto body = BodyOp::create(
      builder, step.getLoc(), kind,
      uint64_t(kind == BodyKind::Begin || kind == BodyKind::Update || kind == BodyKind::Evaluate ? 0 : chunk));
  Block *block = builder.createBlock(&body.getBody());
  if (!firstBody)
    firstBody = body;
  builder.setInsertionPointToEnd(block);
  return block;
}

void StageProgram::buildMicrobatch(BodyKind kind) {
  addBody(kind);
  BodyEmitter emitter(*this, builder);
  for (Operation &op : step.getMicrobatch().front()) {
    auto home = placement.virtualStageOf.find(&op);
    if (home != placement.virtualStageOf.end() && home->second == here() && runsIn(&op, kind))
      emitter.emit(&op);
  }
  unsigned next = kind == BodyKind::Forward ? here() + 1 : here() - 1; // wraps to beyond the last
  bool sends =
      kind != BodyKind::WeightGrad && next < placement.virtualStages() && placement.places[next].stage != stage;
  if (sends && valuesOver(here(), next).empty()) {
    auto type = cast<MemRefType>(tokenBuffer(here(), next).getType());
    Value zero = emitZeros(builder, step.getLoc(), RankedTensorType::get(type.getShape(), type.getElementType()), "");
    StoreOp::create(builder, step.getLoc(), zero, tokenBuffer(here(), next));
  }
}

SmallVector<Value> StageProgram::valuesOver(unsigned from, unsigned to) const {
  SmallVector<Crossing> over;
  for (const Crossing &c : crossings) {
    bool forward = c.first < c.last,
         passes = forward ? c.first <= from && to <= c.last : c.last <= to && from <= c.first;
    if (passes && forward == (from < to))
      over.push_back(c);
  }
  llvm::stable_sort(
      over, [&](const Crossing &a, const Crossing &b) { return from < to ? a.last < b.last : a.last > b.last; });
  return llvm::map_to_vector(over, [](const Crossing &c) { return c.value; });
}

/// Where no value crosses an edge (all parameters before it are frozen), a number does: the schedule's order needs a
/// word.
Value StageProgram::tokenBuffer(unsigned from, unsigned to) {
  Value &buffer = tokens[{from, to}];
  if (!buffer)
    buffer = addBuffer(step.getLoc(), ("token." + Twine(from) + "to" + Twine(to)).str(), MemoryClass::Communication,
                       Space::Slot, RankedTensorType::get({1}, builder.getF32Type()), {}, {}, {});
  return buffer;
}

void StageProgram::addMessage(unsigned from, unsigned to) {
  SmallVector<Value> buffers =
      llvm::map_to_vector(valuesOver(from, to), [&](Value value) { return valueBuffer(value); });
  schedule::Place sender = placement.places[from], receiver = placement.places[to];
  bool forward = from < to, empty = buffers.empty();
  if (empty)
    buffers.push_back(tokenBuffer(from, to));
  builder.setInsertionPointToEnd(&program.getBody().front());
  std::string cause = placement.describeCut(std::min(from, to));
  cause = empty ? "order alone: no value crosses where " + cause : forward ? cause : "gradients go back where " + cause;
  MessageOp::create(builder, buffers.front().getLoc(), forward ? MessageValues::Activation : MessageValues::Gradient,
                    uint64_t(sender.stage), uint64_t(sender.chunk), uint64_t(receiver.stage), uint64_t(receiver.chunk),
                    ValueRange(buffers), cause);
}

void StageProgram::buildMessages() {
  for (chunk = 0; chunk < placement.chunks; ++chunk)
    for (unsigned neighbour : {here() - 1, here() + 1}) // one before the first wraps to beyond the last
      if (neighbour < placement.virtualStages() && placement.places[neighbour].stage != stage) {
        addMessage(here(), neighbour);
        addMessage(neighbour, here());
      }
}

LogicalResult StageProgram::build() {
  std::string name = (step.getSymName() + "_stage" + Twine(stage)).str();
  SmallVector<std::string> text = placement.partsOf(step, stage);
  SmallVector<StringRef> parts(text.begin(), text.end());
  program = ProgramOp::create(builder, step.getLoc(), builder.getStringAttr(name), step.getPlanAttr(),
                              builder.getI64IntegerAttr(stage), builder.getStrArrayAttr(parts),
                              step.getMicrobatchesAttr(), IntegerAttr(), IntegerAttr(), IntegerAttr(), IntegerAttr(),
                              IntegerAttr(), IntegerAttr(), IntegerAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  for (chunk = 0; chunk < placement.chunks; ++chunk) {
    findKept();
    buildMicrobatch(BodyKind::Forward);
    buildMicrobatch(BodyKind::Backward);
    if (splitWeightGrad)
      buildMicrobatch(BodyKind::WeightGrad);
  }
  if (failed(buildOnce(step.getUpdate(), BodyKind::Update)) ||
      failed(buildOnce(step.getEvaluate(), BodyKind::Evaluate)))
    return failure();
  buildBegin();
  buildMessages();
  eraseUnused();
  return success();
}

/// What this stage makes only for a stage that gives it to all (the square sum of a tied parameter).
void StageProgram::eraseUnused() {
  for (auto body : program.getBody().getOps<BodyOp>())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
}
