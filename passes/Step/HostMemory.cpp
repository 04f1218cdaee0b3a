// Offsets in the host's memory; contracts in HostMemory.h.
#include "passes/Step/HostMemory.h"
#include "passes/Step/SlotMemory.h"
using namespace mlir;
using namespace hocket::step;

LogicalResult hocket::step::placeHost(ProgramOp program) {
  auto buffers = llvm::to_vector(llvm::make_filter_range(program.ops<BufferOp>(), inHost));
  if (buffers.empty())
    return success();
  llvm::stable_sort(buffers, [](BufferOp a, BufferOp b) { return a.getMemory() < b.getMemory(); });
  int64_t top = 0;
  for (BufferOp buffer : buffers)
    if (buffer.getSpace() == Space::Host) {
      buffer.setOffset(top);
      top = aligned(top + buffer.getBytes());
    }
  SlotMemory slots(program, Space::HostSlot);
  if (failed(slots.measure()))
    return failure();
  slots.place();
  program.setHostSlotsOffset(top);
  program.setHostSlotBytes(slots.slotBytes);
  program.setHostBytes(top + slots.slotBytes * static_cast<int64_t>(program.getSlotCount().value_or(0)));
  return success();
}
