// What buffers hold when they are read: step-verify-program follows every body op by op, byte range by byte range.
#include "passes/Step/BodyMemory.h"
#include "passes/Step/SlotChains.h"
#include "passes/Step/VerifyProgram.h"
#include "llvm/ADT/SetVector.h"
#include <map>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
using Buffers = llvm::SmallDenseSet<Operation *, 32>; // BufferOps

/// Who wrote each byte last in this body, per space. Ranges do not overlap.
class Writers {
public:
  struct Piece {
    int64_t end;
    BufferOp buffer;
    Operation *writer;
  };
  /// The pieces that overlap [begin, end).
  SmallVector<std::pair<int64_t, Piece>> over(int64_t begin, int64_t end) const {
    SmallVector<std::pair<int64_t, Piece>> found;
    auto it = pieces.upper_bound(begin);
    if (it != pieces.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; it != pieces.end() && it->first < end; ++it)
      found.push_back({it->first, it->second});
    return found;
  }
  void write(int64_t begin, int64_t end, BufferOp buffer, Operation *writer) {
    for (auto &[start, piece] : over(begin, end)) {
      pieces.erase(start);
      if (start < begin)
        pieces[start] = {begin, piece.buffer, piece.writer};
      if (piece.end > end)
        pieces[end] = {piece.end, piece.buffer, piece.writer};
    }
    pieces[begin] = {end, buffer, writer};
  }

private:
  std::map<int64_t, Piece> pieces;
};

struct Range {
  Space space;
  int64_t begin, end;
  bool overlaps(const Range &other) const { return space == other.space && begin < other.end && other.begin < end; }
  bool operator==(const Range &) const = default;
};
Range rangeOf(BufferOp buffer) {
  int64_t begin = buffer.getOffset().value_or(0);
  return {buffer.getSpace(), begin, begin + buffer.getBytes()};
}
StringRef nameOf(Value buffer) { return buffer.getDefiningOp<BufferOp>().getName(); }

class BodyContents {
public:
  /// `known`: buffers that hold something when the body starts.
  BodyContents(VerifyContext &context, BodyOp body, const Buffers &known)
      : context(context), body(body), known(known) {}

  /// Returns the buffers that the body writes.
  Buffers verify() {
    for (Operation &op : body.getBody().front()) {
      if (!isa<LaunchOp, GemmOp, CollectiveOp, TransferOp>(op) || !operandsFit(&op))
        continue;
      for (Value value : readsOf(&op))
        read(&op, value.getDefiningOp<BufferOp>());
      inPlace(&op);
      for (Value value : writesOf(&op))
        write(&op, value.getDefiningOp<BufferOp>());
    }
    return written;
  }

private:
  bool operandsFit(Operation *op) {
    bool fit = true;
    SmallVector<Value> all = readsOf(op);
    llvm::append_range(all, writesOf(op));
    for (Value value : all) {
      auto buffer = isa<MemRefType>(value.getType()) ? value.getDefiningOp<BufferOp>() : BufferOp();
      fit &= buffer && buffer.getOffset();
      if (!buffer)
        context.fault(op) << sayWork(op) << " has an operand outside of arena and slots";
      else if (runsOnce(body.getKind()) && buffer.getSpace() != Space::Arena && buffer.getSpace() != Space::Host)
        context.fault(op) << sayWork(op) << " uses '" << buffer.getName() << "' of a microbatch; "
                          << stringifyBodyKind(body.getKind()) << " belongs to none";
    }
    return fit;
  }

  void read(Operation *op, BufferOp buffer) {
    Range range = rangeOf(buffer);
    int64_t seen = range.begin; // bytes before it were written in this body
    for (auto &[begin, piece] : writers[static_cast<int>(range.space)].over(range.begin, range.end)) {
      if (piece.buffer != buffer) {
        auto error = context.fault(op) << sayWork(op) << " reads '" << buffer.getName() << "' after "
                                       << sayWork(piece.writer) << " has written '" << piece.buffer.getName()
                                       << "' over its bytes " << std::max(begin, range.begin) << " to "
                                       << std::min(piece.end, range.end) - 1;
        error.attachNote(piece.writer->getLoc()) << "overwritten here";
        return;
      }
      if (begin > seen)
        break;
      seen = piece.end;
    }
    if (seen >= range.end || known.contains(buffer))
      return;
    auto error = context.fault(op) << sayWork(op) << " reads '" << buffer.getName()
                                   << "', which nothing before it has written";
    error.attachNote(buffer.getLoc()) << "'" << buffer.getName() << "' lies here";
  }

  void write(Operation *op, BufferOp buffer) {
    Range range = rangeOf(buffer);
    writers[static_cast<int>(range.space)].write(range.begin, range.end, buffer, op);
    written.insert(buffer);
    if (buffer.getSlot() == nn::SlotKind::Input || buffer.getSpace() == Space::Microbatch)
      context.fault(op) << sayWork(op) << " writes the input '" << buffer.getName() << "'";
  }

  /// True if the op may write result `result` over what operand `operand` (a place among its reads) held.
  bool mayShare(Operation *op, unsigned result, unsigned operand) {
    if (isa<GemmOp>(op))
      return operand == 2;
    if (auto collective = dyn_cast<CollectiveOp>(op))
      return collective.getKind() == CollectiveKind::AllReduce;
    return isa<LaunchOp>(op) && llvm::is_contained(inPlacePairs(cast<LaunchOp>(op), context.symbols), std::pair(result, operand));
  }

  /// Results over operands only where the op works in place, and never over each other.
  void inPlace(Operation *op) {
    SmallVector<Value> reads = readsOf(op), writes = writesOf(op);
    for (auto [i, out] : llvm::enumerate(writes)) {
      Range to = rangeOf(out.getDefiningOp<BufferOp>());
      for (Value other : ArrayRef(writes).take_front(i))
        if (to.overlaps(rangeOf(other.getDefiningOp<BufferOp>())))
          context.fault(op) << sayWork(op) << " writes '" << nameOf(other) << "' and '" << nameOf(out)
                            << "' over each other";
      for (auto [k, in] : llvm::enumerate(reads)) {
        Range from = rangeOf(in.getDefiningOp<BufferOp>());
        if (!to.overlaps(from) || (to == from && mayShare(op, i, k)))
          continue;
        auto error = context.fault(op) << sayWork(op) << " writes '" << nameOf(out) << "' over its operand '"
                                       << nameOf(in) << "', and does not work in place there";
        error.attachNote(in.getLoc()) << "'" << nameOf(in) << "' lies here";
      }
    }
  }

  VerifyContext &context;
  BodyOp body;
  const Buffers &known;
  Buffers written;
  Writers writers[getMaxEnumValForSpace() + 1]; // by space
};

/// The bodies of one stage in the order in which a microbatch meets them.
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
    for (uint64_t chunk = 0; chunk < chains.chunks(); ++chunk)
      if (chains.head(chunk) == chunk)
        runChain(chains, chunk);
    local.clear();
    run(BodyKind::Update, 0);
    run(BodyKind::Evaluate, 0);
    checkForeignWrites();
  }

private:
  /// Forwards of the chain in the order of the model, then its backwards from the last to the first.
  void runChain(const SlotChains &chains, uint64_t head) {
    SmallVector<uint64_t> members;
    for (uint64_t chunk = head; chunk < chains.chunks(); ++chunk)
      if (chains.head(chunk) == head)
        members.push_back(chunk);
    local.clear();
    for (uint64_t chunk : members) {
      arrive(MessageValues::Activation, chunk);
      run(BodyKind::Forward, chunk);
      leave(MessageValues::Activation, chunk, BodyKind::Forward);
    }
    for (uint64_t chunk : llvm::reverse(members)) {
      run(BodyKind::Recompute, chunk);
      arrive(MessageValues::Gradient, chunk);
      run(BodyKind::Backward, chunk);
      leave(MessageValues::Gradient, chunk, BodyKind::Backward);
      run(BodyKind::WeightGrad, chunk);
    }
  }

  void run(BodyKind kind, int64_t chunk) {
    BodyOp body = program.findBody(kind, chunk);
    if (!body)
      return;
    Buffers known = lasting;
    known.insert(local.begin(), local.end());
    Buffers written = BodyContents(context, body, known).verify();
    for (Operation *op : written) {
      writersOf[op].insert(body);
      auto buffer = cast<BufferOp>(op);
      if (buffer.getSpace() == Space::Slot || buffer.getSpace() == Space::HostSlot)
        local.insert(op);
      else if (buffer.getSlot())
        lasting.insert(op);
    }
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

  bool ownEnd(MessageOp message, bool sends, MessageValues values, int64_t chunk) {
    uint64_t stage = sends ? message.getFrom() : message.getTo(),
             at = sends ? message.getFromChunk() : message.getToChunk();
    return message.getValues() == values && stage == program.getStage() && static_cast<int64_t>(at) == chunk;
  }
  void arrive(MessageValues values, int64_t chunk) {
    for (auto message : program.ops<MessageOp>())
      if (ownEnd(message, false, values, chunk))
        for (Value buffer : message.getBuffers()) {
          local.insert(buffer.getDefiningOp());
          received[buffer.getDefiningOp()] = message;
        }
  }
  void leave(MessageValues values, int64_t chunk, BodyKind maker) {
    for (auto message : program.ops<MessageOp>())
      if (ownEnd(message, true, values, chunk))
        for (Value value : message.getBuffers()) {
          sent.push_back({value.getDefiningOp(), {message, maker}});
          if (!local.contains(value.getDefiningOp()))
            context.fault(message) << "sends '" << nameOf(value) << "' with '" << message.getText()
                                   << "', which neither " << stringifyBodyKind(maker)
                                   << " nor a message before it has written";
        }
  }

  /// A message may arrive, or still be on its way, while any body but the one it is tied to runs.
  void checkForeignWrites() {
    for (auto &[buffer, message] : received)
      for (BodyOp body : writersOf[buffer])
        context.fault(body) << stringifyBodyKind(body.getKind()) << " writes '" << cast<BufferOp>(buffer).getName()
                            << "' while '" << message.getText() << "' may still arrive there";
    for (auto &[buffer, tie] : sent)
      for (BodyOp body : writersOf[buffer])
        if (auto [message, maker] = tie; body.getKind() != maker)
          context.fault(body) << stringifyBodyKind(body.getKind()) << " writes '" << cast<BufferOp>(buffer).getName()
                              << "' while '" << message.getText() << "' may still send it";
  }

  VerifyContext &context;
  ProgramOp program;
  Buffers lasting, local, byBegin; ///< hold something: all step long; in the slot of this microbatch
  llvm::MapVector<Operation *, MessageOp> received;
  SmallVector<std::pair<Operation *, std::pair<MessageOp, BodyKind>>> sent;
  llvm::DenseMap<Operation *, llvm::SmallSetVector<BodyOp, 2>> writersOf;
};
} // namespace

void hocket::step::verifyContents(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    StageContents(context, program).verify();
}
