// Where buffers lie: step-verify-program's checks of offsets, spaces and overlaps that need no order of ops.
#include "passes/Step/BodyMemory.h"
#include "passes/Step/HostMemory.h"
#include "passes/Step/SlotLives.h"
#include "passes/Step/VerifyProgram.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
/// Bytes [begin, end) that something holds all step long.
struct Held {
  int64_t begin, end;
  BufferOp buffer; // null: the slots
  std::string name() { return buffer ? "'" + buffer.getName().str() + "'" : "the slots"; }
};

/// The device's or the host's memory.
struct Memory {
  StringRef arena, slot; ///< what they are called
  int64_t bytes, slotBytes, slotsBegin;
  std::vector<Held> held = {};
};

class Layout {
public:
  Layout(VerifyContext &context, ProgramOp program) : context(context), program(program) {}

  void verify() {
    for (Memory *memory : {&device, &host})
      holdSlots(*memory);
    for (auto buffer : program.ops<BufferOp>())
      if (placed(buffer))
        sort(buffer);
    for (Memory *memory : {&device, &host})
      overlaps(memory->held);
    for (auto schedule : program.ops<ScheduleOp>()) {
      SmallVector<ByteRange> inSlot = messagesInSlot(schedule.getTable());
      for (const Row &row : openAtUpdate(program, schedule.getTable()))
        open.push_back({rangeOf(row, inSlot), row, schedule});
    }
    for (BufferOp buffer : temporary)
      overHeld(buffer);
  }

private:
  void holdSlots(Memory &memory) {
    int64_t slots = program.getSlotCount().value_or(0), end = memory.slotsBegin + slots * memory.slotBytes;
    if (end > memory.bytes)
      context.fault(program) << slots << " slots of " << memory.slotBytes << " bytes at " << memory.slotsBegin
                             << " end at byte " << end << ", the " << memory.arena << " has " << memory.bytes;
    if (memory.slotsBegin % bufferAlignment || memory.slotBytes % bufferAlignment)
      context.fault(program) << "slots of " << memory.slotBytes << " bytes at " << memory.slotsBegin
                             << ", expected multiples of " << bufferAlignment;
    if (end > memory.slotsBegin)
      memory.held.push_back({memory.slotsBegin, end, {}});
  }

  Memory &of(BufferOp buffer) { return inHost(buffer) ? host : device; }
  static bool inSlot(BufferOp buffer) {
    return buffer.getSpace() == Space::Slot || buffer.getSpace() == Space::HostSlot;
  }
  static int64_t begin(BufferOp buffer) { return *buffer.getOffset(); }

  /// Bytes of the arena, or of a slot, that the buffer takes up.
  int64_t extent(BufferOp buffer) {
    int64_t times = buffer.getSpace() == Space::Microbatch ? program.getMicrobatches() : 1;
    return buffer.getBytes() * times;
  }

  bool placed(BufferOp buffer) {
    if (!buffer.getOffset()) {
      context.fault(buffer) << "'" << buffer.getName() << "' has no offset";
      return false;
    }
    if (begin(buffer) % bufferAlignment)
      context.fault(buffer) << "'" << buffer.getName() << "' starts at byte " << begin(buffer)
                            << ", expected a multiple of " << bufferAlignment;
    int64_t limit = inSlot(buffer) ? of(buffer).slotBytes : of(buffer).bytes;
    if (begin(buffer) + extent(buffer) <= limit)
      return true;
    context.fault(buffer) << "'" << buffer.getName() << "' ends at byte " << begin(buffer) + extent(buffer) << ", the "
                          << (inSlot(buffer) ? of(buffer).slot : of(buffer).arena) << " has " << limit;
    return false;
  }

  void sort(BufferOp buffer) {
    Held range{begin(buffer), begin(buffer) + extent(buffer), buffer};
    if (inSlot(buffer))
      return; // whether they may share bytes is verifyContents' to say
    if (buffer.getSlot())
      of(buffer).held.push_back(range);
    else if (inHost(buffer))
      context.fault(buffer) << "'" << buffer.getName() << "' lies in the host's memory and does not last";
    else
      temporary.push_back(buffer);
  }

  /// All microbatches of an input at once, and one of them.
  static bool sameInput(Held a, Held b) {
    if (!a.buffer || !b.buffer || a.begin != b.begin)
      return false;
    StringRef one = a.buffer.getName(), other = b.buffer.getName();
    return one == (other + ".all").str() || other == (one + ".all").str();
  }

  void report(Held over, Held under) {
    int64_t from = std::max(over.begin, under.begin), to = std::min(over.end, under.end);
    auto error = context.fault(over.buffer ? over.buffer.getOperation() : program.getOperation())
                 << over.name() << " and " << under.name() << " share the bytes " << from << " to " << to - 1;
    if (under.buffer)
      error.attachNote(under.buffer.getLoc()) << under.name() << " lies here";
  }

  void overlaps(std::vector<Held> &ranges) {
    llvm::sort(ranges,
               [](const Held &a, const Held &b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    for (size_t i = 1, last = 0; i < ranges.size(); ++i) { // `last`: of those so far the one that ends last
      if (ranges[i].begin < ranges[last].end && !sameInput(ranges[i], ranges[last])) {
        bool later =
            ranges[i].buffer && (!ranges[last].buffer || ranges[last].buffer->isBeforeInBlock(ranges[i].buffer));
        report(ranges[later ? i : last], ranges[later ? last : i]);
      }
      if (ranges[i].end > ranges[last].end)
        last = i;
    }
  }

  /// A row that may still use slots when update starts.
  struct Open {
    ByteRange bytes;
    Row row;
    ScheduleOp schedule;
  };
  /// By message of the table; all of a slot for one that the program does not have.
  SmallVector<ByteRange> messagesInSlot(TableAttr table) {
    return llvm::map_to_vector(table.getMessages(), [&](const Message &each) -> ByteRange {
      MessageOp message = program.findMessage(each);
      auto first = message ? message.getBuffers().front().getDefiningOp<BufferOp>() : BufferOp();
      if (!first || !first.getOffset())
        return {0, number(program.getSlotBytes())};
      return {begin(first), begin(first) + message.getBytes()};
    });
  }
  ByteRange rangeOf(const Row &row, ArrayRef<ByteRange> inSlot) {
    int64_t size = number(program.getSlotBytes()), slot = device.slotsBegin + row.slot * size;
    ByteRange bytes = row.kind == RowKind::Body ? ByteRange{0, size} : inSlot[row.index];
    return {slot + bytes.begin, slot + bytes.end};
  }
  static std::string textOf(TableAttr table, const Row &row) {
    std::string text = row.kind == RowKind::Body
                           ? stringifyBodyKind(static_cast<BodyKind>(row.index % kBodyKinds)).str()
                           : "'" + messageText(table.getMessages()[row.index]) + "'";
    return text + " of microbatch " + std::to_string(row.microbatch);
  }

  /// Slots are free in update, but for what is still on its way.
  void overHeld(BufferOp buffer) {
    if (buffer->use_empty())
      return;
    Held range{begin(buffer), begin(buffer) + extent(buffer), buffer};
    bool ofUpdate = llvm::all_of(buffer->getUsers(), [](Operation *user) {
      auto body = user->getParentOfType<BodyOp>();
      return body && body.getKind() == BodyKind::Update;
    });
    const std::vector<Held> &held = device.held;
    auto it = llvm::upper_bound(held, range.begin, [](int64_t at, const Held &other) { return at < other.end; });
    for (; it != held.end() && it->begin < range.end; ++it) {
      if (it->buffer || !ofUpdate)
        return report(range, *it);
      for (Open &row : open)
        if (row.bytes.begin < range.end && range.begin < row.bytes.end) {
          auto error = context.fault(buffer)
                       << "'" << buffer.getName() << "' of update lies over the bytes "
                       << std::max(row.bytes.begin, range.begin) << " to " << std::min(row.bytes.end, range.end) - 1
                       << " of the slots, where " << textOf(row.schedule.getTable(), row.row)
                       << " may not have finished when update starts";
          error.attachNote(row.schedule.getLoc()) << "update does not wait for it here";
          return;
        }
    }
  }

  VerifyContext &context;
  ProgramOp program;
  static int64_t number(std::optional<uint64_t> planned) { return planned.value_or(0); }
  Memory device{"arena", "slot", number(program.getArenaBytes()), number(program.getSlotBytes()),
                number(program.getSlotsOffset())};
  Memory host{"host's arena", "host's slot", number(program.getHostBytes()), number(program.getHostSlotBytes()),
              number(program.getHostSlotsOffset())};
  SmallVector<Open> open;
  SmallVector<BufferOp> temporary;
};
} // namespace

void hocket::step::verifyLayout(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    Layout(context, program).verify();
}
