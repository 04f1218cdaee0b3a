// The calls of NCCL that a rank of a program for "cuda" makes in an entry, in the order in which it issues them. What
// `hocket explain --calls` prints; the runtime's log of what it issued is compared with it.
#ifndef HOCKET_RUNTIME_PROGRAM_CALLS_H
#define HOCKET_RUNTIME_PROGRAM_CALLS_H

#include "runtime/Program/program_generated.h"
#include <functional>
#include <string_view>

namespace hocket::program {

// ncclSend and so on, with its arguments but for addresses.
struct Call {
  enum Function : uint8_t { AllReduce, ReduceScatter, AllGather, Send, Receive };
  Function function;
  uint32_t communicator; // of Program.communicators
  uint64_t count;        // as NCCL takes it: of a reduce-scatter what a rank receives, of an all-gather what it sends
  DType type;
  Reduction reduction; // of AllReduce and ReduceScatter
  // Send and Receive: the other's place in the communicator; of a group this rank's own place plus `peer`, around.
  uint32_t peer;
  bool relative;
  uint32_t stream;      // of the entry; behind those the rank's bodyStreams
  uint32_t group;       // calls of equal number, one after another, are within one ncclGroupStart and ncclGroupEnd
  uint32_t row;         // of the entry
  uint32_t instruction; // of the row's body; of a message 0
  uint64_t bytes() const;
};
// "ncclAllReduce"
std::string_view functionName(Call::Function function);

// Elements of a message as the runtime sends them. A message is bytes; the widest type that divides them, F32 or BF16,
// keeps counts small.
DType messageType(const Message &message);

// Calls `see` for each. The program is checked.
void forEachCall(const Program &program, const RankProgram &rank, const Entry &entry,
                 const std::function<void(const Call &)> &see);
// "compute", "send_next", …; of a call's stream.
std::string_view streamName(const RankProgram &rank, const Entry &entry, uint32_t stream);

} // namespace hocket::program
#endif
