// Verifiers and names of programs, buffers, bodies and messages. Those of what stands in bodies: StepWork.cpp.
#include "dialect/Dist/AxesSyntax.h"
#include "dialect/NN/Assembly.h"
#include "dialect/Step/Step.h"
#include "dialect/Step/StepWork.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;
using namespace hocket::nn;
using namespace hocket::dist;

StringRef hocket::step::layerOf(StringRef path) {
  size_t begin = 0;
  while (begin <= path.size()) {
    size_t end = std::min(path.find('.', begin), path.size());
    StringRef component = path.slice(begin, end);
    if (begin > 0 && !component.empty() && llvm::all_of(component, [](char c) { return llvm::isDigit(c); }))
      return path.take_front(end);
    begin = end + 1;
  }
  return "";
}

StringRef hocket::step::slotSuffix(nn::SlotKind kind, int64_t rank) {
  switch (kind) {
  case nn::SlotKind::FirstMoment:
    return ".m";
  case nn::SlotKind::SecondMoment:
    return ".v";
  case nn::SlotKind::Master:
    return ".master";
  case nn::SlotKind::Accumulator:
    return ".acc";
  case nn::SlotKind::State:
    return ".state";
  case nn::SlotKind::Value:
    return rank ? ".compute" : "";
  case nn::SlotKind::Param:
  case nn::SlotKind::Input:
  case nn::SlotKind::Output:
    return "";
  }
  return "";
}

/// h.3 after h.2; a stage of several chunks leaves out what lies between them.
static bool isNextLayer(StringRef before, StringRef layer) {
  auto [prefixBefore, numberBefore] = before.rsplit('.');
  auto [prefix, number] = layer.rsplit('.');
  uint64_t from = 0, to = 0;
  return prefix == prefixBefore && !numberBefore.getAsInteger(10, from) && !number.getAsInteger(10, to) &&
         to == from + 1;
}

std::string hocket::step::partsText(ArrayAttr parts) {
  SmallVector<std::string> words;
  StringRef first, last; // of the run of layers in hand
  auto close = [&] {
    if (!first.empty())
      words.push_back(first == last ? first.str() : (first + " to " + last).str());
    first = last = {};
  };
  for (StringRef part : parts.getAsValueRange<StringAttr>()) {
    if (layerOf(part) == part && !part.empty()) {
      if (!first.empty() && !isNextLayer(last, part))
        close();
      first = first.empty() ? part : first;
      last = part;
      continue;
    }
    close();
    words.push_back(part.str());
  }
  close();
  return llvm::join(words, ", ");
}

int64_t hocket::step::byteSize(ShapedType type) {
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

// ---- program -------------------------------------------------------------------------------------------------------
LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<PlanOp>(*this, getPlanAttr()))
    return emitOpError() << "unknown plan " << getPlanAttr();
  return success();
}

static LogicalResult notNegative(Operation *op, StringRef what, std::optional<uint64_t> value) {
  int64_t number = static_cast<int64_t>(value.value_or(0));
  if (number < 0)
    return op->emitOpError() << what << " is " << number << ", expected at least 0";
  return success();
}

LogicalResult ProgramOp::verify() {
  bool sound = succeeded(notNegative(*this, "stage", getStage()));
  sound &= succeeded(notNegative(*this, "size of the arena", getArenaBytes()));
  sound &= succeeded(notNegative(*this, "number of slots", getSlotCount()));
  sound &= succeeded(notNegative(*this, "size of a slot", getSlotBytes()));
  sound &= succeeded(notNegative(*this, "offset of the slots", getSlotsOffset()));
  sound &= succeeded(notNegative(*this, "size of the host's arena", getHostBytes()));
  sound &= succeeded(notNegative(*this, "size of a slot of the host's", getHostSlotBytes()));
  sound &= succeeded(notNegative(*this, "offset of the host's slots", getHostSlotsOffset()));
  if (static_cast<int64_t>(getMicrobatches()) < 1)
    sound &= succeeded(emitOpError() << "microbatches is " << static_cast<int64_t>(getMicrobatches())
                                     << ", expected at least 1");
  if (getArenaBytes().has_value() != getSlotCount().has_value())
    sound &=
        succeeded(emitOpError() << "has a plan of its "
                                << (getArenaBytes() ? "arena, and none of its slots" : "slots, and none of its arena"));
  return success(sound);
}

BodyOp ProgramOp::findBody(BodyKind kind, int64_t chunk) {
  for (auto body : ops<BodyOp>())
    if (body.getKind() == kind && static_cast<int64_t>(body.getChunk()) == chunk)
      return body;
  return {};
}
MessageOp ProgramOp::findMessage(const Message &message) {
  for (auto op : ops<MessageOp>())
    if (op.getMessage() == message)
      return op;
  return {};
}
ScheduleOp ProgramOp::findSchedule(StringRef name) {
  for (auto schedule : ops<ScheduleOp>())
    if (schedule.getName() == name)
      return schedule;
  return {};
}

LogicalResult JobOp::verify() {
  bool sound = true;
  for (auto [what, value] : {std::pair<StringRef, uint64_t>{"rows", getRows()},
                             {"microbatches", getMicrobatches()},
                             {"sequence", getSequence()},
                             {"vocabulary", getVocabulary()},
                             {"parameters", getParameters()},
                             {"stages", getStages()}})
    if (static_cast<int64_t>(value) < 0 || (what == "stages" && value < 1))
      sound &= succeeded(emitOpError() << what << " is " << static_cast<int64_t>(value) << ", expected at least "
                                       << (what == "stages" ? 1 : 0));
  return success(sound);
}

LogicalResult BodyOp::verify() { return notNegative(*this, "chunk", getChunk()); }

// ---- buffers and messages ------------------------------------------------------------------------------------------
void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getBuffer(), getName()); }

LogicalResult BufferOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
    return emitOpError() << "has type " << type << ", expected a dense row-major memref of static shape";
  if (getShardAttr() && getShardAttr().getGlobal().getRank() != type.getRank())
    return emitOpError() << "has " << type.getRank() << " dimensions and is a shard of " << getShardAttr().getGlobal();
  return notNegative(*this, "offset", getOffset());
}

Message MessageOp::getMessage() {
  return {static_cast<Values>(getValues()), static_cast<uint32_t>(getFrom()), static_cast<uint32_t>(getTo()),
          static_cast<uint16_t>(getFromChunk()), static_cast<uint16_t>(getToChunk())};
}

int64_t MessageOp::getBytes() {
  auto first = getBuffers().front().getDefiningOp<BufferOp>(), last = getBuffers().back().getDefiningOp<BufferOp>();
  return static_cast<int64_t>(*last.getOffset()) + last.getBytes() - static_cast<int64_t>(*first.getOffset());
}

LogicalResult MessageOp::verify() {
  bool sound = true;
  for (auto [what, value, most] : {std::tuple<StringRef, uint64_t, uint64_t>{"stage", getFrom(), UINT32_MAX},
                                   {"stage", getTo(), UINT32_MAX},
                                   {"chunk", getFromChunk(), UINT16_MAX / kBodyKinds - 1},
                                   {"chunk", getToChunk(), UINT16_MAX / kBodyKinds - 1}})
    if (value > most)
      sound &= succeeded(emitOpError() << what << ' ' << static_cast<int64_t>(value) << ", expected 0 to " << most);
  if (getFrom() == getTo())
    sound &= succeeded(emitOpError() << "goes from stage " << getFrom() << " to itself");
  if (getBuffers().empty())
    sound &= succeeded(emitOpError() << "carries no buffer");
  return success(sound);
}

#define GET_OP_CLASSES
#include "dialect/Step/StepOps.cpp.inc"
