// What lies in a Region beside the arenas. Plain data and atomics: all-zero bytes are the valid start of every block.
#ifndef HOCKET_RUNTIME_COMM_SHM_CONTROL_H
#define HOCKET_RUNTIME_COMM_SHM_CONTROL_H

#include "runtime/Comm/Call.h"
#include "runtime/Comm/Shm/Futex.h"
#include <algorithm>

namespace hocket::runtime::shm {

inline constexpr uint64_t magic = 0x314d4853544b4348; // "HCKTSHM1"
inline constexpr uint32_t layoutVersion = 1;
// An offset that says: this memory is private to its rank.
inline constexpr uint64_t outside = UINT64_MAX;

// ---- collectives ----------------------------------------------------------------------------------------------------
// A member's call and where its buffers are. Inputs of up to inlineBytes travel in the record itself.
struct Record {
  static constexpr size_t inlineBytes = 1024;
  Call call;
  uint64_t in, out; // offsets in the region, or `outside`
  alignas(16) std::byte data[inlineBytes];
};

// Records alternate: a member that runs ahead writes the other one, and cannot be two collectives ahead.
struct alignas(64) MemberControl {
  Word arrivals; // barriers this member has come to, for naming the missing
  Record records[2];
};

// ---- messages -------------------------------------------------------------------------------------------------------
struct Side {
  uint64_t offset; // in the region, or `outside`
  uint64_t count;
  ElementType type;
};

// Message k of a channel uses slot k % slots in turn k / slots. The state is turn * 16 + phase; a slot whose turn is
// past that of k is done with k. Each side writes its Side before it posts; the second to post decides how to copy.
struct alignas(64) Slot {
  enum Phase : uint32_t {
    Free,           // nobody has posted
    SendPosted,     // the receiver is missing
    ReceivePosted,  // the sender is missing
    Copying,        // the second to post copies
    SenderCopies,   // the sender's memory is private, the receiver's is not
    ReceiverCopies, // the receiver's memory is private, the sender's is not
    BounceEmpty,    // both are private: the sender fills the bounce buffer
    BounceFull,     // … and the receiver empties it
    Mismatch        // of sizes or types; final
  };
  Word state;
  Side sender, receiver;
};

struct Channel {
  static constexpr uint32_t slots = 32;
  static constexpr size_t bounceBytes = 16 << 10;
  Slot slot[slots];
  uint32_t bounced; // bytes in the bounce buffer
  alignas(64) std::byte bounce[bounceBytes];
};

// ---- one communicator -----------------------------------------------------------------------------------------------
// Followed by size members, size * size channels (sender * size + receiver) and size bounce buffers.
struct alignas(64) GroupControl {
  uint32_t size;
  uint32_t bounceBytes;        // of one member: staging of collectives whose buffers are private
  Word arrived;                // members in the barrier that is going on
  alignas(64) Word generation; // barriers passed

  static size_t bounceBytesFor(size_t size) { return std::max<size_t>(64 << 10, size * 64); }
  static size_t sizeBytes(size_t size) {
    return sizeof(GroupControl) + size * sizeof(MemberControl) + size * size * sizeof(Channel) +
           size * bounceBytesFor(size);
  }
  MemberControl &member(size_t i) { return reinterpret_cast<MemberControl *>(this + 1)[i]; }
  Channel &channel(size_t from, size_t to) { return reinterpret_cast<Channel *>(&member(size))[from * size + to]; }
  std::byte *bounce(size_t i) { return reinterpret_cast<std::byte *>(&channel(size, 0)) + i * bounceBytes; }
};

// ---- the region -----------------------------------------------------------------------------------------------------
struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t worldSize;
  uint32_t groupCount;
  uint64_t bytes;                       // of the region
  uint64_t statuses, directory, arenas; // offsets: RankStatus[worldSize], GroupEntry[groupCount], ArenaEntry[worldSize]
  // 0 no abort, 1 being written, 2 set
  Word aborted;
  int32_t abortRank;
  uint32_t abortBytes;
  char abortText[2048];
};
struct GroupEntry {
  uint64_t control; // offset of GroupControl
  uint64_t ranks;   // offset of int32_t[size]
  uint32_t size;
};
struct ArenaEntry {
  uint64_t offset, bytes;
};

} // namespace hocket::runtime::shm
#endif
