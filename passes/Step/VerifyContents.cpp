// What buffers hold when they are read: step-verify-program follows the bodies of a stage in every order in which its
// tables let a microbatch meet them, and what messages may do to the slot meanwhile.
#include "passes/Step/BodyContents.h"
#include "passes/Step/SlotLives.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
class StageContents {
public:
  StageContents(VerifyContext &context, ProgramOp program) : context(context), program(program) {}

  void verify() {
    for (auto buffer : program.ops<BufferOp>())
      if (auto slot = buffer.getSlot(); slot && (nn::livesAcrossSteps(*slot) || *slot == nn::SlotKind::Input))
        lasting.insert(buffer);
    run(BodyKind::Begin, 0);
    checkZeroed();
    SlotChains chains(program);
    for (auto schedule : program.ops<ScheduleOp>())
      for (auto &[head, lives] : slotLives(program, chains, schedule.getTable()))
        for (const SlotLife &life : lives)
          live(life, schedule.getTable());
    slot = {};
    run(BodyKind::Update, 0);
    run(BodyKind::Evaluate, 0);
  }

private:
  /// One microbatch from its first row to its last.
  void live(const SlotLife &life, TableAttr table) {
    slot = {};
    auto messageOf = [&](const SlotLife::Traffic &each) {
      return program.findMessage(table.getMessages()[each.index]); // null: told by verifySchedules
    };
    for (uint32_t body = 0; body <= life.bodies.size(); ++body) {
      for (const SlotLife::Traffic &each : life.traffic)
        if (MessageOp message = messageOf(each); message && each.startsAfter == body && placed(message)) {
          for (uint32_t other : each.follows)
            end(messageOf(life.traffic[other]));
          start(message);
        }
      if (body == life.bodies.size())
        break;
      for (const SlotLife::Traffic &each : life.traffic)
        if (each.overBefore == body)
          end(messageOf(each));
      run(life.bodies[body].kind, life.bodies[body].chunk);
    }
  }

  void run(BodyKind kind, int64_t chunk) {
    BodyOp body = program.findBody(kind, chunk);
    if (!body)
      return;
    Buffers written = BodyContents(context, body, lasting, slot, told).verify();
    for (Operation *op : written)
      if (cast<BufferOp>(op).getSlot())
        lasting.insert(op);
    if (kind == BodyKind::Begin)
      byBegin = written;
  }

  /// Sums start at zero each step.
  void checkZeroed() {
    for (auto buffer : program.ops<BufferOp>())
      if (buffer.getSlot() == nn::SlotKind::Accumulator && !byBegin.contains(buffer))
        context.fault(buffer) << "'" << buffer.getName()
                              << "' is not zeroed in begin; it would start with the sums of the step before";
  }

  bool leaves(MessageOp message) { return message.getFrom() == program.getStage(); }
  static BufferOp bufferOf(Value value) { return value.getDefiningOp<BufferOp>(); }
  static bool placed(MessageOp message) { // else verifyMessages and verifyLayout say so
    return llvm::all_of(message.getBuffers(), [](Value value) {
      return bufferOf(value) && bufferOf(value).getOffset() && bufferOf(value).getSpace() == Space::Slot;
    });
  }
  /// From the first byte of the first buffer to the last of the last, what lies between them included.
  static Range rangeOf(MessageOp message) {
    return {Space::Slot, step::rangeOf(bufferOf(message.getBuffers().front())).begin,
            step::rangeOf(bufferOf(message.getBuffers().back())).end};
  }

  void start(MessageOp message) {
    Range range = rangeOf(message);
    for (OnItsWay &other : slot.onTheirWay)
      if (range.overlaps(other.range) && !(leaves(message) && other.leaves) &&
          told.insert({message, other.message}).second)
        (context.fault(message) << "'" << message.getText() << "' and '" << other.message.getText()
                                << "' may be on their way at once, and share the bytes "
                                << std::max(range.begin, other.range.begin) << " to "
                                << std::min(range.end, other.range.end) - 1 << " of the slot")
                .attachNote(other.message.getLoc())
            << "the other is here";
    if (leaves(message))
      checkSent(message);
    else
      arrive(message);
    slot.onTheirWay.push_back({message, range, leaves(message)});
  }

  void arrive(MessageOp message) {
    int64_t begin = rangeOf(message).begin;
    for (Value value : message.getBuffers()) {
      int64_t end = step::rangeOf(bufferOf(value)).end;
      slot.writers.write(begin, end, bufferOf(value), message);
      begin = end;
    }
  }

  void checkSent(MessageOp message) {
    for (Value value : message.getBuffers()) {
      BufferOp buffer = bufferOf(value);
      Range range = step::rangeOf(buffer);
      int64_t seen = range.begin;
      for (auto &[begin, piece] : slot.writers.over(range.begin, range.end)) {
        if (piece.buffer != buffer && told.insert({message, buffer}).second) {
          auto error = context.fault(message)
                       << "'" << message.getText() << "' sends '" << buffer.getName() << "' after "
                       << sayWriter(piece.writer) << " '" << piece.buffer.getName() << "' over its bytes "
                       << std::max(begin, range.begin) << " to " << std::min(piece.end, range.end) - 1;
          error.attachNote(piece.writer->getLoc()) << "overwritten here";
        }
        if (begin <= seen)
          seen = piece.end;
      }
      if (seen < range.end && told.insert({message, buffer}).second)
        context.fault(message) << "sends '" << buffer.getName() << "' with '" << message.getText()
                               << "', which no body and no message before it has written";
    }
  }

  void end(MessageOp message) {
    llvm::erase_if(slot.onTheirWay, [&](const OnItsWay &way) { return way.message == message; });
  }

  VerifyContext &context;
  ProgramOp program;
  Buffers lasting, byBegin; ///< hold something: all step long; since begin
  SlotContents slot;
  Told told;
};
} // namespace

void hocket::step::verifyContents(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    StageContents(context, program).verify();
}
