// What the checker finds.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_FAULT_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_FAULT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::runtime::emulator {

// dim3
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};
std::string toString(Extent extent); // "(4,1,1)"

enum class FaultKind : uint8_t {
  Race,             // two threads, one byte, at least one write, no barrier between them
  UnwrittenShared,  // a read of shared memory that no thread of the block wrote
  UnfinishedCopy,   // a read of shared memory that a cp.async, not yet waited for, writes
  OutOfBounds,      // outside every region, or outside shared memory
  Misaligned,       // less aligned than the instruction claims
  DivergentBarrier, // threads at different barriers, or not all threads of a warp at one
  DivergentWarp,    // lanes at different warp collectives, or a lane that its mask leaves out
  Stuck,            // threads that wait for others which never come
};

struct Fault {
  FaultKind kind = FaultKind::Race;
  Extent block{0, 0, 0}, thread{0, 0, 0};
  std::string message; // kernel, block, thread, what, where
  uint64_t alike = 0;  // further faults of this kind at this instruction
};

// "kernel "k", block …: …" of each, with " (and 3 more like it)" where there are, one a line.
std::string listed(const std::vector<Fault> &faults);

} // namespace hocket::runtime::emulator
#endif
