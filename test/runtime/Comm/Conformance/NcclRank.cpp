// See NcclRank.h.
#include "Conformance/NcclRank.h"

using namespace hocket::runtime;
namespace hocket::test {
namespace {

// A message that is complete when what it brought is back in the mirror too.
class Copied : public Request {
public:
  Copied(Device &device, std::unique_ptr<Request> message, std::unique_ptr<Event> copied)
      : device(device), message(std::move(message)), copied(std::move(copied)) {}

  Result<bool> test() override {
    Result<bool> here = message->test();
    return here && *here ? device.complete(*copied) : std::move(here);
  }
  Status wait(Deadline deadline) override {
    if (Status here = message->wait(deadline); !here)
      return here;
    for (;;) {
      Result<bool> complete = device.complete(*copied);
      if (!complete)
        return std::move(complete.error());
      if (*complete)
        return {};
      if (std::chrono::steady_clock::now() >= deadline)
        return Error{ErrorKind::Timeout, "the copy of a message was not done by its deadline", {}};
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

private:
  Device &device;
  std::unique_ptr<Request> message;
  std::unique_ptr<Event> copied;
};

class OnStreams : public Communicator {
public:
  OnStreams(NcclRank &rank, std::unique_ptr<Communicator> over)
      : Communicator(over->group(), over->rank()), owner(rank), over(std::move(over)) {}

  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) override {
    size_t bytes = count * sizeBytes(type);
    return queue(when, in, bytes, out, bytes,
                 [&](auto *from, auto *to, When on) { return over->allReduce(from, to, count, type, reduction, on); });
  }
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                       When when) override {
    size_t bytes = count * sizeBytes(type);
    return queue(when, in, bytes * members(), out, bytes, [&](auto *from, auto *to, When on) {
      return over->reduceScatter(from, to, count, type, reduction, on);
    });
  }
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) override {
    size_t bytes = count * sizeBytes(type);
    return queue(when, in, bytes, out, bytes * members(),
                 [&](auto *from, auto *to, When on) { return over->allGather(from, to, count, type, on); });
  }
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) override {
    size_t bytes = count * sizeBytes(type) * members();
    return queue(when, in, bytes, out, bytes,
                 [&](auto *from, auto *to, When on) { return over->allToAll(from, to, count, type, on); });
  }
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) override {
    size_t bytes = count * sizeBytes(type);
    return queue(when, buffer, bytes, buffer, bytes,
                 [&](auto *, auto *at, When on) { return over->broadcast(at, count, type, root, on); });
  }
  Status barrier(When when) override {
    return queue(when, nullptr, 0, nullptr, 0, [&](auto *, auto *, When on) { return over->barrier(on); });
  }
  Status shiftRing(const void *in, void *out, size_t count, ElementType type, When when) override {
    size_t bytes = count * sizeBytes(type);
    return queue(when, in, bytes, out, bytes,
                 [&](auto *from, auto *to, When on) { return over->shiftRing(from, to, count, type, on); });
  }
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                        void *given) override {
    void *stream = given ? given : owner.draw().handle();
    if (Status fetched = owner.fetch(stream, data, count * sizeBytes(type)); !fetched)
      return std::move(fetched.error());
    return over->send(owner.onDevice(data), count, type, peer, stream);
  }
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer, void *given) override {
    void *stream = given ? given : owner.draw().handle();
    auto posted = over->receive(owner.onDevice(data), count, type, peer, stream);
    if (!posted || !owner.copies())
      return posted;
    if (Status back = owner.bringBack(stream, data, count * sizeBytes(type)); !back)
      return std::move(back.error());
    Result<std::unique_ptr<Event>> event = owner.device().event();
    if (!event)
      return std::move(event.error());
    StreamOf on(stream);
    if (Status recorded = owner.device().record(on, **event); !recorded)
      return std::move(recorded.error());
    return std::unique_ptr<Request>(std::make_unique<Copied>(owner.device(), std::move(*posted), std::move(*event)));
  }

private:
  size_t members() const { return static_cast<size_t>(size()); }

  template <class Calls>
  Status queue(When when, const void *in, size_t inBytes, void *out, size_t outBytes, const Calls &call) {
    When on(when.deadline, when.stream ? when.stream : owner.draw().handle());
    Status queued = owner.fetch(on.stream, in, inBytes);
    if (queued)
      queued = call(static_cast<const void *>(owner.onDevice(in)), owner.onDevice(out), on);
    if (queued)
      queued = owner.bringBack(on.stream, out, outBytes);
    if (!queued || when.stream)
      return queued;
    StreamOf stream(on.stream);
    return owner.world->finish(stream, when.deadline);
  }

  NcclRank &owner;
  std::unique_ptr<Communicator> over;
};

} // namespace

NcclRank::NcclRank(NcclParts given, uint64_t seed, size_t resident) : parts(std::move(given)), random(seed) {
  auto follow = [this](const Group &group, const std::string &call) { issued.push_back(group.name + ": " + call); };
  auto capturing = [this](void *handle) {
    StreamOf stream(handle);
    return parts.device->capturing(stream);
  };
  if (emulated())
    emulator.emplace(*parts.host, *parts.device, nccl::NcclEmulatorOptions{seed, resident, follow, capturing});
  world.emplace(meeting(), emulated() ? nccl::NcclEmulator::library() : *parts.library, *parts.device, parts.memory);
  for (int i = 0; i < 4; ++i)
    streams.push_back(*parts.device->stream());
}

Result<std::unique_ptr<Communicator>> NcclRank::communicator(const Group &group, Deadline deadline) {
  Result<std::unique_ptr<Communicator>> made = world->communicator(group, deadline);
  if (!made)
    return made;
  return std::unique_ptr<Communicator>(std::make_unique<OnStreams>(*this, std::move(*made)));
}

Status NcclRank::finish(double seconds) {
  for (auto &stream : streams)
    if (Status finished = world->finish(*stream, deadlineIn(seconds)); !finished)
      return finished;
  return {};
}

// Nothing of a group is queued before its end, so what it writes is not there before.
Status NcclRank::together(const std::function<Status()> &calls, Deadline deadline) {
  grouping = true;
  Status queued = world->together(calls, deadline);
  grouping = false;
  for (const std::function<Status()> &copy : std::exchange(behind, {}))
    if (queued)
      queued = copy();
  return queued;
}

// ---- the mirror -----------------------------------------------------------------------------------------------------
void *NcclRank::onDevice(const void *buffer) const {
  auto *at = const_cast<std::byte *>(static_cast<const std::byte *>(buffer));
  return copies() && buffer ? parts.memory.data() + (at - parts.mirror.data()) : at;
}

Status NcclRank::fetch(void *stream, const void *buffer, size_t bytes) {
  StreamOf on(stream);
  return copies() && bytes ? parts.device->copy(on, onDevice(buffer), buffer, bytes) : Status();
}

Status NcclRank::bringBack(void *stream, void *buffer, size_t bytes) {
  if (!copies() || !bytes)
    return {};
  auto copy = [this, stream, buffer, bytes] {
    StreamOf on(stream);
    return parts.device->copy(on, buffer, onDevice(buffer), bytes);
  };
  if (!grouping)
    return copy();
  behind.push_back(copy);
  return {};
}

} // namespace hocket::test
