// See HostCommunicator.h.
#include "runtime/Comm/HostCommunicator.h"

namespace hocket::runtime {

Status HostCommunicator::allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                   When when) {
  return run({Operation::AllReduce, type, reduction, 0, count}, in, out, when.deadline);
}
Status HostCommunicator::reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                       When when) {
  return run({Operation::ReduceScatter, type, reduction, 0, count}, in, out, when.deadline);
}
Status HostCommunicator::allGather(const void *in, void *out, size_t count, ElementType type, When when) {
  return run({Operation::AllGather, type, Reduction::Sum, 0, count}, in, out, when.deadline);
}
Status HostCommunicator::allToAll(const void *in, void *out, size_t count, ElementType type, When when) {
  return run({Operation::AllToAll, type, Reduction::Sum, 0, count}, in, out, when.deadline);
}
Status HostCommunicator::broadcast(void *buffer, size_t count, ElementType type, int root, When when) {
  return run({Operation::Broadcast, type, Reduction::Sum, root, count}, buffer, buffer, when.deadline);
}
Status HostCommunicator::barrier(When when) {
  return run({Operation::Barrier, ElementType::F32, Reduction::Sum, 0, 0}, nullptr, nullptr, when.deadline);
}

Status HostCommunicator::run(const Call &call, const void *in, void *out, Deadline deadline) {
  if (broken)
    return *broken;
  if (Status sound = checkCall(*this, call, in, out); !sound)
    return sound;
  Status status = collective(call, static_cast<const std::byte *>(in), static_cast<std::byte *>(out), deadline);
  if (!status)
    broken = status.error();
  return status;
}

Result<std::unique_ptr<Request>> HostCommunicator::send(const void *data, size_t count, ElementType type, int peer,
                                                        void *) {
  if (Status sound = checkPeer(*this, peer, /*sends=*/true); !sound)
    return std::move(sound.error());
  return post(const_cast<std::byte *>(static_cast<const std::byte *>(data)), count, type, peer, /*sends=*/true);
}
Result<std::unique_ptr<Request>> HostCommunicator::receive(void *data, size_t count, ElementType type, int peer,
                                                           void *) {
  if (Status sound = checkPeer(*this, peer, /*sends=*/false); !sound)
    return std::move(sound.error());
  return post(static_cast<std::byte *>(data), count, type, peer, /*sends=*/false);
}

} // namespace hocket::runtime
