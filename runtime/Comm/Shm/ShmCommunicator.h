// A communicator in shared memory. A collective is: write down what this member asks for and where its buffers are;
// meet the others; check that all ask for the same; compute from the others' buffers where they lie; meet again.
//   - Inputs of up to 1 KiB travel in the record, so that small collectives meet once.
//   - All-reduce: member r reduces the r-th chunk of all members and writes it to all of them. Everything else is
//     pulled from the inputs by whoever needs it.
//   - Where an input is private to its rank, all stage their inputs through bounce buffers, piece by piece.
#ifndef HOCKET_RUNTIME_COMM_SHM_SHMCOMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_SHM_SHMCOMMUNICATOR_H

#include "runtime/Comm/HostCommunicator.h"
#include "runtime/Comm/Shm/Messages.h"

namespace hocket::runtime::shm {

class ShmCommunicator : public HostCommunicator {
public:
  ShmCommunicator(Group group, int self, const Region &region, GroupControl &control, Messages &messages);

private:
  Status collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) override;
  void record(const Call &call, const void *in, void *out);
  Status agreed() const;
  const std::byte *inputOf(int member, bool small) const;
  Status meet(const Call &call, Deadline deadline);
  Error missing(const Call &call) const;
  bool allInRegion(const Call &call) const;
  void reduceChunk(const Call &call) const;
  Status staged(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  Result<std::unique_ptr<Request>> post(std::byte *data, size_t count, ElementType type, int peer, bool sends) override;
  const Record &recordOf(int member) const { return control.member(member).records[turn]; }

  const Region &region;
  GroupControl &control;
  Messages &messages;
  uint32_t arrivals = 0;                // barriers this member has come to
  uint32_t turn = 0;                    // which of the two records is in use
  std::vector<uint32_t> sent, received; // messages posted so far, by peer
};

} // namespace hocket::runtime::shm
#endif
