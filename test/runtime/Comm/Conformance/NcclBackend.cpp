// Ranks of the conformance suite over the emulated NCCL.
#include "Conformance/NcclRank.h"
#include "Conformance/ShmStart.h"
#include "runtime/Device/OpenEmulator.h"

using namespace hocket::runtime;
namespace hocket::test {
namespace {

// See NcclRank.
class OnStreams : public Communicator {
public:
  OnStreams(NcclRank &rank, std::unique_ptr<Communicator> over)
      : Communicator(over->group(), over->rank()), owner(rank), over(std::move(over)) {}

  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) override {
    return queue(when, [&](When on) { return over->allReduce(in, out, count, type, reduction, on); });
  }
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                       When when) override {
    return queue(when, [&](When on) { return over->reduceScatter(in, out, count, type, reduction, on); });
  }
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) override {
    return queue(when, [&](When on) { return over->allGather(in, out, count, type, on); });
  }
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) override {
    return queue(when, [&](When on) { return over->allToAll(in, out, count, type, on); });
  }
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) override {
    return queue(when, [&](When on) { return over->broadcast(buffer, count, type, root, on); });
  }
  Status barrier(When when) override {
    return queue(when, [&](When on) { return over->barrier(on); });
  }
  Status shiftRing(const void *in, void *out, size_t count, ElementType type, When when) override {
    return queue(when, [&](When on) { return over->shiftRing(in, out, count, type, on); });
  }
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                        void *stream) override {
    return over->send(data, count, type, peer, stream ? stream : owner.draw().handle());
  }
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer,
                                           void *stream) override {
    return over->receive(data, count, type, peer, stream ? stream : owner.draw().handle());
  }

private:
  Status queue(When when, const std::function<Status(When)> &call) {
    if (when.stream)
      return call(when);
    Stream &stream = owner.draw();
    if (Status queued = call({when.deadline, stream.handle()}); !queued)
      return queued;
    return owner.world.finish(stream, when.deadline);
  }
  NcclRank &owner;
  std::unique_ptr<Communicator> over;
};

uint64_t number(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::stoull(text) : otherwise;
}

class NcclBackend : public Backend {
public:
  std::string name() const override { return "nccl"; }
  std::vector<Outcome> run(const std::string &scenario,
                           const std::function<void(const std::vector<int> &)> &meanwhile) override {
    setenv("HOCKET_TEST_BACKEND", "nccl", 1);
    auto outcomes = runOverShm(scenario, meanwhile);
    unsetenv("HOCKET_TEST_BACKEND");
    return outcomes;
  }
  Result<std::unique_ptr<World>> join(int rank) override {
    Result<std::unique_ptr<shm::ShmWorld>> host = joinShm(rank);
    if (!host)
      return std::move(host.error());
    uint64_t seed = number("HOCKET_TEST_SEED", 0) * 64 + static_cast<uint64_t>(rank);
    Result<std::unique_ptr<Device>> device = openEmulatorDevice(seed, false);
    if (!device)
      return std::move(device.error());
    size_t bytes = scenarios().at(std::getenv("HOCKET_TEST_SCENARIO")).arenaBytes;
    auto made = std::make_unique<NcclRank>(std::move(*host), std::move(*device), seed, bytes,
                                           number("HOCKET_TEST_RESIDENT", SIZE_MAX));
    if (!made->arena().data())
      return Error{ErrorKind::Lacking, "no memory", {}};
    return std::unique_ptr<World>(std::move(made));
  }
};

std::span<std::byte> memory(Device &device, size_t bytes) {
  Result<void *> made = device.allocate(bytes);
  return made ? std::span<std::byte>(static_cast<std::byte *>(*made), bytes) : std::span<std::byte>();
}

} // namespace

NcclRank::NcclRank(std::unique_ptr<shm::ShmWorld> over, std::unique_ptr<Device> on, uint64_t seed, size_t arenaBytes,
                   size_t resident)
    : host(std::move(over)), device(std::move(on)),
      emulator(*host, *device,
               {seed,
                resident,
                [this](const Group &group, const std::string &call) { issued.push_back(group.name + ": " + call); },
                {}}),
      world(emulator, nccl::NcclEmulator::library(), *device, memory(*device, arenaBytes)), random(seed) {
  for (int i = 0; i < 4; ++i)
    streams.push_back(*device->stream());
}

Result<std::unique_ptr<Communicator>> NcclRank::communicator(const Group &group, Deadline deadline) {
  Result<std::unique_ptr<Communicator>> made = world.communicator(group, deadline);
  if (!made)
    return made;
  return std::unique_ptr<Communicator>(std::make_unique<OnStreams>(*this, std::move(*made)));
}

Status NcclRank::finish(double seconds) {
  for (auto &stream : streams)
    if (Status finished = world.finish(*stream, deadlineIn(seconds)); !finished)
      return finished;
  return {};
}

Backend &ncclBackend() {
  static NcclBackend backend;
  return backend;
}

} // namespace hocket::test
