// What buffers hold when they are read: one body of step-verify-program, op by op, byte range by byte range (internal
// to it).
#pragma once
#include "passes/Step/VerifyProgram.h"
#include <map>
#include <set>

namespace hocket::step {
using Buffers = llvm::SmallDenseSet<mlir::Operation *, 32>; // BufferOps

/// Who wrote each byte last: an op of a body, or a message that may have arrived. Ranges do not overlap.
class Writers {
public:
  struct Piece {
    int64_t end;
    BufferOp buffer;
    mlir::Operation *writer;
  };
  /// The pieces that overlap [begin, end).
  llvm::SmallVector<std::pair<int64_t, Piece>> over(int64_t begin, int64_t end) const {
    llvm::SmallVector<std::pair<int64_t, Piece>> found;
    auto it = pieces.upper_bound(begin);
    if (it != pieces.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; it != pieces.end() && it->first < end; ++it)
      found.push_back({it->first, it->second});
    return found;
  }
  void write(int64_t begin, int64_t end, BufferOp buffer, mlir::Operation *writer) {
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
Range rangeOf(BufferOp buffer);

/// A message whose bytes nobody may write, because it may be on its way.
struct OnItsWay {
  MessageOp message;
  Range range;
  bool leaves;
};

/// What lives longer than a body: the slot of one microbatch, and what was said of the stage already.
struct SlotContents {
  Writers writers;
  Writers host; ///< of its part in the host's memory
  llvm::SmallVector<OnItsWay> onTheirWay;
};
using Told = std::set<std::pair<mlir::Operation *, mlir::Operation *>>;

/// "gemm of h.3.attn.qkv has written", "'activation from 0 to 1' may have put"
std::string sayWriter(mlir::Operation *writer);

class BodyContents {
public:
  /// `known`: buffers of the arena that hold something when the body starts.
  BodyContents(VerifyContext &context, BodyOp body, const Buffers &known, SlotContents &slot, Told &told)
      : context(context), body(body), known(known), slot(slot), told(told) {}

  /// Returns the buffers that the body writes.
  Buffers verify();

private:
  bool operandsFit(mlir::Operation *op);
  void read(mlir::Operation *op, BufferOp buffer);
  void write(mlir::Operation *op, BufferOp buffer);
  void checkOnTheirWay(mlir::Operation *op, BufferOp buffer);
  bool mayShare(mlir::Operation *op, unsigned result, unsigned operand);
  void inPlace(mlir::Operation *op);
  Writers &writersOf(Space space) {
    return space == Space::Slot       ? slot.writers
           : space == Space::HostSlot ? slot.host
                                      : writers[static_cast<int>(space)];
  }
  /// Whether this is the first fault of its kind: bodies are looked at once for each life that has them.
  bool first(mlir::Operation *op, mlir::Operation *other) { return told.insert({op, other}).second; }

  VerifyContext &context;
  BodyOp body;
  const Buffers &known;
  SlotContents &slot;
  Told &told;
  Buffers written;
  Writers writers[5]; // by space
};
} // namespace hocket::step
