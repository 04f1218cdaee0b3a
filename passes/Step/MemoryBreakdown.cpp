// Adds up a planned program.
#include "passes/Step/MemoryBreakdown.h"
#include "passes/Step/SlotMemory.h"
#include "passes/Step/VerifyProgram.h"
#include <deque>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
/// The layer of a path or a parameter's name; outside of layers its first component, without the number of its use.
///   h.3.attn.qkv.weight.acc -> h.3;  wte#0 -> wte;  wte.use0.acc -> wte
std::string partOf(StringRef path) {
  if (StringRef layer = layerOf(path); !layer.empty())
    return layer.str();
  return path.split('#').first.split('.').first.str();
}

class Adder {
public:
  explicit Adder(ProgramOp program) : program(program) {}

  MemoryBreakdown add() {
    out.arenaBytes = program.getArenaBytes().value_or(0);
    out.slots = program.getSlotCount().value_or(0);
    out.slotBytes = program.getSlotBytes().value_or(0);
    for (auto buffer : program.ops<BufferOp>())
      hold(buffer);
    SlotMemory slot(program);
    if (succeeded(slot.measure())) {
      out.slotBusyBytes = slot.busyBytes;
      out.slotUnsharedBytes = slot.unsharedBytes;
      for (BufferOp buffer : slot.busiest)
        part(partOfUse(buffer)).bytes[buffer.getMemory()] += aligned(buffer.getBytes()) * out.slots;
    }
    int64_t slotsBegin = program.getSlotsOffset().value_or(0);
    out.tailBytes = out.arenaBytes - (slotsBegin + out.slots * out.slotBytes);
    out.workspaceBytes = slotsBegin - held + out.tailBytes;
    for (auto body : program.ops<BodyOp>())
      work(body);
    SmallVector<ByteRange> taken = slotsBusyInUpdate(program);
    for (ByteRange &range : taken)
      range = {range.begin - held, range.end - held};
    int64_t updateEnd = held + leastTop(out.updateBytes, taken);
    out.leastTailBytes = std::max<int64_t>(0, updateEnd - (slotsBegin + out.slots * out.slotBytes));
    return std::move(out);
  }

private:
  MemoryBreakdown::Part &part(const std::string &layer) {
    auto [it, fresh] = index.try_emplace(layer, out.parts.size());
    if (fresh)
      out.parts.push_back({layer, {}});
    return out.parts[it->second];
  }

  /// Of the first op that touches it.
  static std::string partOfUse(BufferOp buffer) {
    Operation *first = nullptr;
    for (Operation *user : buffer->getUsers())
      if (!isa<MessageOp>(user) && (!first || (user->getBlock() == first->getBlock()
                                                   ? user->isBeforeInBlock(first)
                                                   : user->getParentOp()->isBeforeInBlock(first->getParentOp()))))
        first = user;
    return first ? partOf(nn::getPath(first)) : "";
  }

  /// What lasts. An input of which begin sees all microbatches at once lies over the same bytes as they.
  void hold(BufferOp buffer) {
    bool microbatch = buffer.getSpace() == Space::Microbatch;
    if (!microbatch && (buffer.getSpace() != Space::Arena || !buffer.getSlot()))
      return;
    bool input = microbatch || buffer.getMemory() == MemoryClass::Input || buffer.getMemory() == MemoryClass::Scalar;
    int64_t bytes = buffer.getBytes() * (microbatch ? program.getMicrobatches() : 1);
    held = std::max<int64_t>(held, aligned(*buffer.getOffset() + bytes));
    if (!places.insert(*buffer.getOffset()).second)
      return;
    if (input || buffer.getMemory() != MemoryClass::Accumulator || !share(buffer, bytes))
      part(input ? "" : partOf(buffer.getName())).bytes[buffer.getMemory()] += bytes;
    out.alignmentBytes += aligned(bytes) - bytes;
  }

  /// What a reduction of several accumulators together leaves is of those whose update reads it, by how much they take
  /// out of it. False for all else.
  bool share(BufferOp buffer, int64_t bytes) {
    llvm::MapVector<StringRef, int64_t> weights; // by path
    int64_t sum = 0;
    for (Operation *user : buffer->getUsers()) {
      auto launch = dyn_cast<LaunchOp>(user);
      if (!launch || nn::getPath(user).empty() || !llvm::is_contained(launch.getInputs(), buffer.getBuffer()))
        continue;
      int64_t taken = 0;
      for (Value out : launch.getOuts())
        taken = std::max(taken, out.getDefiningOp<BufferOp>().getBytes());
      weights[nn::getPath(user)] += taken;
      sum += taken;
    }
    if (weights.size() < 2)
      return false;
    double done = 0;
    int64_t given = 0;
    for (auto &[path, weight] : weights) {
      done += static_cast<double>(weight);
      auto upTo = static_cast<int64_t>(static_cast<double>(bytes) * (done / static_cast<double>(sum)));
      part(partOf(path)).bytes[buffer.getMemory()] += upTo - given;
      given = upTo;
    }
    return true;
  }

  /// The most of the workspace that a body uses at one time. Values made in place share bytes, which count once.
  void work(BodyOp body) {
    llvm::MapVector<Operation *, std::pair<int64_t, int64_t>> used; // buffer: first and last op
    SmallVector<Operation *> ops;
    llvm::StringMap<std::deque<Operation *>> running; // by stream
    llvm::StringMap<uint64_t> ended;
    auto use = [&](Operation *op) { // now
      for (Value operand : op->getOperands())
        if (auto buffer = operand.getDefiningOp<BufferOp>();
            buffer && buffer.getSpace() == Space::Arena && !buffer.getSlot())
          used.insert({buffer, {ops.size(), ops.size()}}).first->second.second = ops.size();
    };
    for (Operation &op : body.getBody().front()) {
      use(&op);
      if (auto await = dyn_cast<AwaitOp>(op)) { // what is on a stream is used until it is awaited
        auto &those = running[await.getStream()];
        for (uint64_t &count = ended[await.getStream()]; count < await.getCount() && !those.empty(); ++count) {
          use(those.front());
          those.pop_front();
        }
      } else if (auto stream = op.getAttrOfType<StringAttr>("stream")) {
        running[stream.getValue()].push_back(&op);
      }
      ops.push_back(&op);
    }
    int64_t most = 0, at = 0;
    for (int64_t place = 0; place < int64_t(ops.size()); ++place)
      if (int64_t bytes = busyAt(used, place); bytes > most)
        std::tie(most, at) = std::pair(bytes, place);
    if (body.getKind() == BodyKind::Update) {
      out.updateBytes = most;
    } else if (most > out.workspaceBusyBytes) {
      out.workspaceBusyBytes = most;
      std::string of = partOf(nn::getPath(ops[at]));
      out.workspacePeak = (stringifyBodyKind(body.getKind()) + (of.empty() ? "" : " of " + of)).str();
    }
  }

  static int64_t busyAt(const llvm::MapVector<Operation *, std::pair<int64_t, int64_t>> &used, int64_t place) {
    SmallVector<ByteRange> ranges;
    for (auto &[op, time] : used)
      if (time.first <= place && place <= time.second) {
        auto buffer = cast<BufferOp>(op);
        int64_t begin = *buffer.getOffset();
        ranges.push_back({begin, aligned(begin + buffer.getBytes())});
      }
    llvm::sort(ranges, [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
    int64_t bytes = 0, end = 0;
    for (const ByteRange &range : ranges) {
      bytes += std::max<int64_t>(0, range.end - std::max(range.begin, end));
      end = std::max(end, range.end);
    }
    return bytes;
  }

  ProgramOp program;
  MemoryBreakdown out;
  std::map<std::string, size_t> index;
  std::set<int64_t> places; ///< of what lasts
  int64_t held = 0;
};
} // namespace

MemoryBreakdown hocket::step::memoryBreakdown(ProgramOp program) { return Adder(program).add(); }
