// Where buffers lie in a slot: those that are not needed at the same time of a microbatch's life share bytes.
#pragma once
#include "passes/Step/BodyMemory.h"
#include "passes/Step/SlotChains.h"
#include <array>

namespace hocket::step {

/// A slot's life is one line of positions: the received activation, the forwards of its chain of chunks op by op, the
/// sent activation, the received gradient, then backwards from the last chunk to the first, the sent gradient, weight
/// gradients. Where a step has two kinds of microbatches (the last one has backwards of its own) there are two lines.
/// A buffer is busy
///   from the op that first touches it to the one that last does (of an op on a stream: until it is awaited);
///   received, from where its message may start: a gradient behind the sent activation if each receive waits for that
///   send, behind the forward if it waits for that alone, else from the beginning;
///   sent, until the receive of the gradient if that waits for the send; else to the end, as every sent gradient;
///   used by a weight gradient of one of several chunks, to the end: its place among other chunks' bodies is open.
struct BusyTime {
  int64_t first = -1, last = -1; ///< positions, both busy; first < 0: never
  void touch(int64_t from, int64_t to) {
    first = first < 0 ? from : std::min(first, from);
    last = std::max(last, to);
  }
  bool meets(const BusyTime &other) const {
    return first >= 0 && other.first >= 0 && first <= other.last && other.first <= last;
  }
};

/// Buffers that lie side by side because messages carry them together; most are one buffer.
struct SlotBlock {
  llvm::SmallVector<BufferOp, 1> buffers;
  int64_t bytes = 0;            ///< a multiple of bufferAlignment
  std::array<BusyTime, 2> busy; ///< by line
  int64_t offset = 0;
  bool meets(const SlotBlock &other) const { return busy[0].meets(other.busy[0]) || busy[1].meets(other.busy[1]); }
};

/// What the slots of a program need. Bodies must work on buffers already.
struct SlotMemory {
  /// `space`: Slot, or HostSlot: the slot's part in the host's memory.
  explicit SlotMemory(ProgramOp program, Space space = Space::Slot);

  /// Gives every buffer of the space its offset; fails where two messages want different neighbours. First fit, by size
  /// or by birth, whichever needs less; quadratic in buffers of a chain.
  mlir::LogicalResult place();

  int64_t slotBytes = 0; ///< of the chain that needs most
  /// The most that is busy at one time: no packing needs less. Of the chain where that is most.
  int64_t busyBytes = 0;
  int64_t unsharedBytes = 0; ///< what a slot would need if no two buffers shared a byte

private:
  mlir::LogicalResult makeBlocks();
  void placeChain(llvm::MutableArrayRef<SlotBlock> blocks);

  ProgramOp program;
  SlotChains chains;
  Space space;
  llvm::MapVector<uint64_t, llvm::SmallVector<SlotBlock>> blocksOf; ///< by chain
};

/// What of the slots may still be on its way when `update` starts: everything else is free by then. Offsets are of the
/// arena; slots must have their place. Without an update in the table: all of it.
llvm::SmallVector<ByteRange> slotsBusyInUpdate(ProgramOp program);
} // namespace hocket::step
