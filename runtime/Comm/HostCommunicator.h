// What the communicators that work on host memory share: the calls of the interface as one Call, which is checked for
// what a member can see alone; and an error that stays.
#ifndef HOCKET_RUNTIME_COMM_HOSTCOMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_HOSTCOMMUNICATOR_H

#include "runtime/Comm/Call.h"
#include <optional>

namespace hocket::runtime {

class HostCommunicator : public Communicator {
public:
  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) final;
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) final;
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) final;
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) final;
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) final;
  Status barrier(When when) final;
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer, void *stream) final;
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer, void *stream) final;

protected:
  using Communicator::Communicator;

  // Meets the other members and returns when `out` is there, or at the deadline. No call comes after one that failed.
  virtual Status collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) = 0;
  // Posts a message to or from another member; of one that is sent, `data` is only read.
  virtual Result<std::unique_ptr<Request>> post(std::byte *data, size_t count, ElementType type, int peer,
                                                bool sends) = 0;
  bool isBroken() const { return broken.has_value(); }

private:
  Status run(const Call &call, const void *in, void *out, Deadline deadline);

  std::optional<Error> broken;
};

} // namespace hocket::runtime
#endif
