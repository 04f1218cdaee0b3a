// The world that NcclWorld sees behind the emulated library.
#include "runtime/Comm/NcclEmulator/NcclEmulator.h"
#include "runtime/Comm/NcclEmulator/Functions.h"

namespace hocket::runtime::nccl {

namespace {
// A communicator that outlives this end of it.
class Lent : public Communicator {
public:
  explicit Lent(std::shared_ptr<Communicator> lender) : Communicator(lender->group(), lender->rank()), real(lender) {}

  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) override {
    return real->allReduce(in, out, count, type, reduction, when);
  }
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                       When when) override {
    return real->reduceScatter(in, out, count, type, reduction, when);
  }
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) override {
    return real->allGather(in, out, count, type, when);
  }
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) override {
    return real->allToAll(in, out, count, type, when);
  }
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) override {
    return real->broadcast(buffer, count, type, root, when);
  }
  Status barrier(When when) override { return real->barrier(when); }
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                        void *stream) override {
    return real->send(data, count, type, peer, stream);
  }
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer,
                                           void *stream) override {
    return real->receive(data, count, type, peer, stream);
  }

private:
  std::shared_ptr<Communicator> real;
};
} // namespace

NcclEmulator::NcclEmulator(World &host, Device &device, NcclEmulatorOptions options)
    : host(host), device(device), options(std::move(options)), random(this->options.seed) {
  Functions::current = this;
}

NcclEmulator::~NcclEmulator() {
  for (auto &[handle, communicator] : communicators)
    communicator->end();
  if (Functions::current == this)
    Functions::current = nullptr;
}

Result<std::unique_ptr<Communicator>> NcclEmulator::communicator(const Group &group, Deadline deadline) {
  Result<std::unique_ptr<Communicator>> made = host.communicator(group, deadline);
  if (!made)
    return made;
  latest = std::move(*made);
  return std::unique_ptr<Communicator>(std::make_unique<Lent>(latest));
}

} // namespace hocket::runtime::nccl
