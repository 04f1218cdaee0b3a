// Calls of NCCL. Not blocking: "in progress" is asked about until it is over or the deadline passes.
#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Device/BorrowedStream.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime::nccl {

namespace {
class Posted : public Request {
public:
  Posted(Device &device, NcclCommunicator &communicator, std::unique_ptr<Event> event)
      : device(device), communicator(communicator), event(std::move(event)) {}

  Result<bool> test() override {
    if (Status good = communicator.poll(); !good)
      return std::move(good.error());
    return device.complete(*event);
  }

  Status wait(Deadline deadline) override {
    for (;;) {
      Result<bool> complete = test();
      if (!complete)
        return std::move(complete.error());
      if (*complete)
        return {};
      if (std::chrono::steady_clock::now() >= deadline)
        return Error{ErrorKind::Timeout,
                     fmt::format("{}: a message did not arrive by its deadline", communicator.describe()),
                     communicator.group().ranks};
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

private:
  Device &device;
  NcclCommunicator &communicator;
  std::unique_ptr<Event> event;
};
} // namespace

NcclCommunicator::NcclCommunicator(Group group, int self, NcclWorld &world, Handle handle, void *barrierElement)
    : Communicator(std::move(group), self), world(world), handle(handle), barrierElement(barrierElement) {
  world.communicators.push_back(this);
}

NcclCommunicator::~NcclCommunicator() {
  std::erase(world.communicators, this);
  if (handle)
    failed ? world.library.abort(handle) : world.library.destroy(handle);
  world.device.free(barrierElement);
}

void NcclCommunicator::abort() {
  if (handle)
    world.library.abort(handle);
  handle = nullptr;
  if (!failed)
    failed = Error{ErrorKind::Aborted, fmt::format("{}: aborted", describe()), {}};
}

// Errors are final.
Status NcclCommunicator::broken(Error error) {
  Error described = std::move(error).in(describe());
  failed = described;
  abort();
  return described;
}

Status NcclCommunicator::poll() {
  if (failed)
    return *failed;
  int state = success;
  world.library.getAsyncError(handle, &state);
  if (Status good = world.library.check(state, "asynchronous error"); !good)
    return broken(std::move(good.error()));
  return {};
}

// What a call said, once it is no more "in progress".
Status NcclCommunicator::done(int outcome, std::string_view name, Deadline deadline) {
  while (outcome == inProgress) {
    if (int asked = world.library.getAsyncError(handle, &outcome))
      outcome = asked;
    if (outcome == inProgress && std::chrono::steady_clock::now() >= deadline)
      return broken({ErrorKind::Timeout, fmt::format("{} was not queued by its deadline", name), group().ranks});
    if (outcome == inProgress)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  if (Status good = world.library.check(outcome, name); !good)
    return broken(std::move(good.error()));
  return {};
}

Status NcclCommunicator::queued(std::string_view name, Deadline deadline) {
  return failed ? Status(*failed) : done(inProgress, name, deadline);
}

Status NcclCommunicator::together(const std::function<int()> &calls, std::string_view name, Deadline deadline) {
  if (failed)
    return *failed;
  int outcome = world.library.groupStart();
  if (!outcome) {
    int within = calls();
    outcome = world.library.groupEnd();
    if (within != success && within != inProgress)
      outcome = within;
  }
  return done(outcome, name, deadline);
}

Status NcclCommunicator::allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                   When when) {
  return together(
      [&] {
        return world.library.allReduce(in, out, count, typeOf(type), operationOf(reduction), handle, when.stream);
      },
      "ncclAllReduce", when.deadline);
}

Status NcclCommunicator::reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                       When when) {
  return together(
      [&] {
        return world.library.reduceScatter(in, out, count, typeOf(type), operationOf(reduction), handle, when.stream);
      },
      "ncclReduceScatter", when.deadline);
}

Status NcclCommunicator::allGather(const void *in, void *out, size_t count, ElementType type, When when) {
  return together([&] { return world.library.allGather(in, out, count, typeOf(type), handle, when.stream); },
                  "ncclAllGather", when.deadline);
}

Status NcclCommunicator::allToAll(const void *in, void *out, size_t count, ElementType type, When when) {
  size_t bytes = count * sizeBytes(type);
  return together(
      [&] {
        int outcome = success;
        for (int peer = 0; peer < size() && !outcome; ++peer) {
          auto offset = static_cast<size_t>(peer) * bytes;
          outcome = world.library.send(static_cast<const std::byte *>(in) + offset, count, typeOf(type), peer, handle,
                                       when.stream);
          if (!outcome)
            outcome = world.library.receive(static_cast<std::byte *>(out) + offset, count, typeOf(type), peer, handle,
                                            when.stream);
        }
        return outcome;
      },
      "grouped ncclSend and ncclRecv", when.deadline);
}

Status NcclCommunicator::shiftRing(const void *in, void *out, size_t count, ElementType type, When when) {
  int before = (rank() + size() - 1) % size(), next = (rank() + 1) % size();
  return together(
      [&] {
        int outcome = world.library.send(in, count, typeOf(type), next, handle, when.stream);
        return outcome ? outcome : world.library.receive(out, count, typeOf(type), before, handle, when.stream);
      },
      "grouped ncclSend and ncclRecv", when.deadline);
}

Status NcclCommunicator::broadcast(void *buffer, size_t count, ElementType type, int root, When when) {
  return together(
      [&] { return world.library.broadcast(buffer, buffer, count, typeOf(type), root, handle, when.stream); },
      "ncclBroadcast", when.deadline);
}

// Returns when every member has called it, as the interface says: the one call that waits.
Status NcclCommunicator::barrier(When when) {
  Status queued = allReduce(barrierElement, barrierElement, 1, ElementType::I32, Reduction::Sum, when);
  if (!queued)
    return queued;
  BorrowedStream stream(when.stream);
  if (Status finished = world.finish(stream, when.deadline); !finished)
    return broken(std::move(finished.error()));
  return {};
}

// A message is complete when the event after it is.
Result<std::unique_ptr<Request>> NcclCommunicator::posted(Status queued, void *stream) {
  if (!queued)
    return std::move(queued.error());
  Result<std::unique_ptr<Event>> event = world.device.event();
  if (!event)
    return std::move(event.error());
  BorrowedStream on(stream);
  if (Status recorded = world.device.record(on, **event); !recorded)
    return std::move(recorded.error());
  return std::unique_ptr<Request>(std::make_unique<Posted>(world.device, *this, std::move(*event)));
}

// A message is queued at once or not at all; what is left of it is asked for by its request.
static constexpr double queueSeconds = 60;

Result<std::unique_ptr<Request>> NcclCommunicator::send(const void *data, size_t count, ElementType type, int peer,
                                                        void *stream) {
  return posted(together([&] { return world.library.send(data, count, typeOf(type), peer, handle, stream); },
                         "ncclSend", deadlineIn(queueSeconds)),
                stream);
}

Result<std::unique_ptr<Request>> NcclCommunicator::receive(void *data, size_t count, ElementType type, int peer,
                                                           void *stream) {
  return posted(together([&] { return world.library.receive(data, count, typeOf(type), peer, handle, stream); },
                         "ncclRecv", deadlineIn(queueSeconds)),
                stream);
}

} // namespace hocket::runtime::nccl
