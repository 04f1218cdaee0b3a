// Offsets in the host's memory; contracts in HostMemory.h.
#include "passes/Step/HostMemory.h"
#include "passes/Step/BodyMemory.h"
#include "passes/Step/SlotChains.h"
using namespace mlir;
using namespace hocket::step;

void hocket::step::placeHost(ProgramOp program) {
  auto buffers = llvm::to_vector(llvm::make_filter_range(program.ops<BufferOp>(), inHost));
  if (buffers.empty())
    return;
  llvm::stable_sort(buffers, [](BufferOp a, BufferOp b) { return a.getMemory() < b.getMemory(); });
  SlotChains chains(program);
  int64_t top = 0, slotBytes = 0;
  llvm::DenseMap<uint64_t, int64_t> tops; // by chain
  for (BufferOp buffer : buffers) {
    int64_t &at = buffer.getSpace() == Space::Host ? top : tops[chains.chainOf(buffer)];
    buffer.setOffset(at);
    at = aligned(at + buffer.getBytes());
    if (buffer.getSpace() == Space::HostSlot)
      slotBytes = std::max(slotBytes, at);
  }
  program.setHostSlotsOffset(top);
  program.setHostSlotBytes(slotBytes);
  program.setHostBytes(top + slotBytes * static_cast<int64_t>(program.getSlotCount().value_or(0)));
}
