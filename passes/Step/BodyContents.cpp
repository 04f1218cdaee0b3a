// Follows the ops of one body.
#include "passes/Step/BodyContents.h"
#include "passes/Step/BodyMemory.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

Range hocket::step::rangeOf(BufferOp buffer) {
  int64_t begin = buffer.getOffset().value_or(0);
  return {buffer.getSpace(), begin, begin + buffer.getBytes()};
}

std::string hocket::step::sayWriter(Operation *writer) {
  if (auto message = dyn_cast<MessageOp>(writer))
    return "'" + message.getText() + "' may have put";
  return sayWork(writer) + " has written";
}

static StringRef nameOf(Value buffer) { return buffer.getDefiningOp<BufferOp>().getName(); }

Buffers BodyContents::verify() {
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

bool BodyContents::operandsFit(Operation *op) {
  bool fit = true;
  SmallVector<Value> all = readsOf(op);
  llvm::append_range(all, writesOf(op));
  for (Value value : all) {
    auto buffer = isa<MemRefType>(value.getType()) ? value.getDefiningOp<BufferOp>() : BufferOp();
    fit &= buffer && buffer.getOffset();
    bool microbatch =
        buffer && runsOnce(body.getKind()) && buffer.getSpace() != Space::Arena && buffer.getSpace() != Space::Host;
    if ((buffer && !microbatch) || !first(op, buffer))
      continue;
    if (!buffer)
      context.fault(op) << sayWork(op) << " has an operand outside of arena and slots";
    else
      context.fault(op) << sayWork(op) << " uses '" << buffer.getName() << "' of a microbatch; "
                        << stringifyBodyKind(body.getKind()) << " belongs to none";
  }
  return fit;
}

void BodyContents::read(Operation *op, BufferOp buffer) {
  Range range = rangeOf(buffer);
  int64_t seen = range.begin; // bytes before it were written
  for (auto &[begin, piece] : writersOf(range.space).over(range.begin, range.end)) {
    if (piece.buffer != buffer) {
      if (!first(op, buffer))
        return;
      auto error = context.fault(op) << sayWork(op) << " reads '" << buffer.getName() << "' after "
                                     << sayWriter(piece.writer) << " '" << piece.buffer.getName() << "' over its bytes "
                                     << std::max(begin, range.begin) << " to " << std::min(piece.end, range.end) - 1;
      error.attachNote(piece.writer->getLoc()) << "overwritten here";
      return;
    }
    if (begin > seen)
      break;
    seen = piece.end;
  }
  if (seen >= range.end || (range.space != Space::Slot && known.contains(buffer)) || !first(op, buffer))
    return;
  auto error = context.fault(op) << sayWork(op) << " reads '" << buffer.getName()
                                 << "', which nothing before it has written";
  error.attachNote(buffer.getLoc()) << "'" << buffer.getName() << "' lies here";
}

void BodyContents::write(Operation *op, BufferOp buffer) {
  Range range = rangeOf(buffer);
  checkOnTheirWay(op, buffer);
  writersOf(range.space).write(range.begin, range.end, buffer, op);
  written.insert(buffer);
  if ((buffer.getSlot() == nn::SlotKind::Input || buffer.getSpace() == Space::Microbatch) && first(op, buffer))
    context.fault(op) << sayWork(op) << " writes the input '" << buffer.getName() << "'";
}

void BodyContents::checkOnTheirWay(Operation *op, BufferOp buffer) {
  Range range = rangeOf(buffer);
  for (OnItsWay &way : slot.onTheirWay) {
    if (!range.overlaps(way.range) || !first(op, way.message))
      continue;
    auto error = context.fault(op) << sayWork(op) << " writes '" << buffer.getName() << "', bytes "
                                   << std::max(range.begin, way.range.begin) << " to "
                                   << std::min(range.end, way.range.end) - 1 << " of the slot, while '"
                                   << way.message.getText() << "' may still "
                                   << (way.leaves ? "send them" : "arrive there");
    error.attachNote(way.message.getLoc()) << "the message is here";
  }
}

/// True if the op may write result `result` over what operand `operand` (a place among its reads) held.
bool BodyContents::mayShare(Operation *op, unsigned result, unsigned operand) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return gemm.getC() && result == 0 && operand == 2;
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return collective.getKind() == CollectiveKind::AllReduce;
  if (isa<TransferOp>(op))
    return false;
  return llvm::is_contained(inPlacePairs(cast<LaunchOp>(op), context.symbols), std::pair(result, operand));
}

/// Results over operands only where the op works in place, and never over each other.
void BodyContents::inPlace(Operation *op) {
  SmallVector<Value> reads = readsOf(op), writes = writesOf(op);
  for (auto [i, out] : llvm::enumerate(writes)) {
    Range to = rangeOf(out.getDefiningOp<BufferOp>());
    for (Value other : ArrayRef(writes).take_front(i))
      if (to.overlaps(rangeOf(other.getDefiningOp<BufferOp>())) && first(op, out.getDefiningOp()))
        context.fault(op) << sayWork(op) << " writes '" << nameOf(other) << "' and '" << nameOf(out)
                          << "' over each other";
    for (auto [k, in] : llvm::enumerate(reads)) {
      Range from = rangeOf(in.getDefiningOp<BufferOp>());
      if (!to.overlaps(from) || (to == from && mayShare(op, i, k)) || !first(op, in.getDefiningOp()))
        continue;
      auto error = context.fault(op) << sayWork(op) << " writes '" << nameOf(out) << "' over its operand '"
                                     << nameOf(in) << "', and does not work in place there";
      error.attachNote(in.getLoc()) << "'" << nameOf(in) << "' lies here";
    }
  }
}
