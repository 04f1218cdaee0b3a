// What a member of a communicator asks for, and what it gets: the part of a collective that does not depend on how the
// members' inputs come together. Shared by the communicators that work on host memory.
#ifndef HOCKET_RUNTIME_COMM_CALL_H
#define HOCKET_RUNTIME_COMM_CALL_H

#include "runtime/Comm/Communicator.h"

namespace hocket::runtime {

enum class Operation : uint32_t { Barrier, AllReduce, ReduceScatter, AllGather, AllToAll, Broadcast };

// All members of a collective must ask for the same.
struct Call {
  Operation operation = Operation::Barrier;
  ElementType type = ElementType::F32;
  Reduction reduction = Reduction::Sum;
  int32_t root = 0; // of a broadcast
  uint64_t count = 0;
  bool operator==(const Call &) const = default;

  size_t blockBytes() const { return count * sizeBytes(type); }
  // How many blocks of `count` elements a member's input has: as many as members, or 1.
  size_t inputBlocks(int members) const {
    return operation == Operation::ReduceScatter || operation == Operation::AllToAll ? static_cast<size_t>(members) : 1;
  }
};

// `all_reduce sum of 64 f32`, `broadcast of 64 f32 from member 1`, `barrier`
std::string describe(const Call &call);

// What a member can see alone (Invalid): a root that is no member, buffers that overlap and are not in place.
Status checkCall(const Communicator &on, const Call &call, const void *in, const void *out);
// The same for a message: a peer that is no member.
Status checkPeer(const Communicator &on, int peer, bool sends);
// Mismatch if a member's call differs from that of member 0; every member names the same two. `calls` by member.
Status agree(const Communicator &on, const std::vector<Call> &calls);
// A wait for these world ranks is over its deadline: `CALL on COMMUNICATOR: time is up; missing: ranks 1, 2`.
Error timeIsUp(const Communicator &on, const Call &call, std::vector<int> missing);

// memcpy, also of nothing and of a buffer onto itself.
void copyBytes(std::byte *to, const std::byte *from, size_t bytes);

// Elements [begin, begin + count) of every block; blocks are `stride` elements apart in the inputs.
struct Piece {
  size_t begin, count, stride;
};
// Computes the output of member `self` for a piece from all members' inputs, each of which points at the piece in its
// first block. Of a broadcast only the root's input is looked at. `out` is the whole output.
void combine(const Call &call, int self, const std::vector<const std::byte *> &in, std::byte *out, Piece piece);

} // namespace hocket::runtime
#endif
