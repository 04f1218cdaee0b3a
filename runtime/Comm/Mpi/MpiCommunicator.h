// A communicator over MPI's messages. A collective is: every member tells every other what it asks for, with its input
// where that has at most 1 KiB; so each knows who is missing, and that all ask for the same. Larger inputs follow:
//   - Reductions: member r receives the r-th part of all members, adds in the order of members, and (all-reduce) sends
//     the result to all. Each member sends and receives 2 (n-1)/n of the input, as a ring does, and the order is fixed.
//     Parts go through a staging buffer of at most stagingBytes.
//   - Everything else goes straight from buffer to buffer, one message for each pair.
// n-1 small messages a member and collective: fine to some hundreds of members, a tree would serve thousands better.
#ifndef HOCKET_RUNTIME_COMM_MPI_MPICOMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_MPI_MPICOMMUNICATOR_H

#include "runtime/Comm/HostCommunicator.h"
#include "runtime/Comm/Mpi/Channel.h"

namespace hocket::runtime::mpi {

class MpiCommunicator : public HostCommunicator {
public:
  static constexpr size_t stagingBytes = 16 << 20;

  // `calls` counts the collectives that this member has come to. Engine and counter outlive it.
  MpiCommunicator(Group group, int self, Engine &engine, std::atomic<uint32_t> &calls);
  ~MpiCommunicator() override;

private:
  // What a member sends first.
  struct Record {
    static constexpr size_t inlineBytes = 1024;
    Call call;
    alignas(16) std::byte data[inlineBytes];
  };
  // A set of transfers that end together, and with which member each is.
  struct Exchange {
    std::vector<MPI_Request> requests;
    std::vector<int> members;
  };

  Status collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) override;
  Status meet(const Call &call, const std::byte *in, Deadline deadline);
  Status direct(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  Status reduceOwn(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  Status reduceAll(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  // Receives `count` elements at `mine` of every member's input and reduces them to `out`; sends each member the
  // `counts` elements at `offsets` of `in`, all in bytes by member.
  Status scatter(const Call &call, const std::byte *in, const std::vector<size_t> &offsets,
                 const std::vector<size_t> &bytes, std::byte *out, Deadline deadline);
  Status add(Exchange &exchange, bool sends, int member, const void *data, size_t bytes, Kind kind);
  Status finish(Exchange &exchange, const Call &call, Deadline deadline);
  std::vector<int> missing(Exchange &exchange);
  Result<std::unique_ptr<Request>> post(std::byte *data, size_t count, ElementType type, int peer, bool sends) override;
  Record &recordOf(int member) { return reinterpret_cast<Record *>(records.data())[member]; }

  Engine &engine;
  std::atomic<uint32_t> &calls;
  std::vector<std::byte> records; // a Record of every member
  std::vector<std::byte> staging;
  std::vector<std::shared_ptr<Channel>> sending, receiving; // by peer; made when first used
};

} // namespace hocket::runtime::mpi
#endif
