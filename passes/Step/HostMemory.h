// Where buffers lie in the host's memory (internal to passes/Step).
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {
inline bool inHost(BufferOp buffer) { return buffer.getSpace() == Space::Host || buffer.getSpace() == Space::HostSlot; }

/// Gives buffers of the host their offsets, and the program its sizes there; nothing where there is none. First what
/// lasts, by class, then as many slots as the device has, packed alike (SlotMemory.h). The program has its slots
/// already.
mlir::LogicalResult placeHost(ProgramOp program);
} // namespace hocket::step
