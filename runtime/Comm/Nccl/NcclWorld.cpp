// Making communicators, waiting for what is queued, ending it.
#include "runtime/Comm/Nccl/NcclWorld.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime::nccl {

static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

Result<std::unique_ptr<Communicator>> NcclWorld::communicator(const Group &group, Deadline deadline) {
  Result<std::unique_ptr<Communicator>> meeting = host.communicator(group, deadline);
  if (!meeting)
    return meeting;
  Communicator &over = **meeting;
  std::string name = over.describe();
  UniqueId id{};
  if (over.rank() == 0)
    if (Status made = library.check(library.getUniqueId(&id), "ncclGetUniqueId"); !made)
      return std::move(made.error()).in(name);
  if (Status told = over.broadcast(&id, sizeof id / 4, ElementType::I32, 0, deadline); !told)
    return std::move(told.error()).in(name);
  Result<void *> element = device.allocate(4);
  if (!element)
    return std::move(element.error()).in(name);
  Config config;
  Handle handle = nullptr;
  int outcome = library.initRankConfig(&handle, over.size(), id, over.rank(), &config);
  auto made = std::make_unique<NcclCommunicator>(group, over.rank(), *this, handle, *element);
  if (Status began = library.check(outcome, "ncclCommInitRankConfig"); !began)
    return std::move(began.error()).in(name);
  for (int state = inProgress; state == inProgress;) {
    library.getAsyncError(handle, &state);
    if (Status good = library.check(state, "ncclCommInitRankConfig"); !good)
      return std::move(good.error()).in(name);
    if (state == inProgress && std::chrono::steady_clock::now() >= deadline) {
      made->abort();
      return Error{ErrorKind::Timeout, fmt::format("{}: not all members came by the deadline", name), group.ranks};
    }
    if (state == inProgress)
      pause();
  }
  return std::unique_ptr<Communicator>(std::move(made));
}

Status NcclWorld::together(const std::function<Status()> &calls, Deadline deadline) {
  if (Status began = library.check(library.groupStart(), "ncclGroupStart"); !began)
    return began;
  Status called = calls();
  int outcome = library.groupEnd();
  if (!called)
    return called;
  if (Status ended = library.check(outcome, "ncclGroupEnd"); !ended)
    return ended;
  for (NcclCommunicator *communicator : communicators)
    if (Status queued = communicator->queued("ncclGroupEnd", deadline); !queued)
      return queued;
  return {};
}

Status NcclWorld::waitForMessages(Deadline deadline) {
  for (NcclCommunicator *communicator : communicators)
    if (Status good = communicator->poll(); !good)
      return good;
  return host.waitForMessages(std::min(deadline, deadlineIn(50e-6)));
}

Status NcclWorld::finish(Stream &stream, Deadline deadline) {
  Result<std::unique_ptr<Event>> event = device.event();
  if (!event)
    return std::move(event.error());
  if (Status recorded = device.record(stream, **event); !recorded)
    return recorded;
  for (;;) {
    Result<bool> complete = device.complete(**event);
    if (!complete)
      return std::move(complete.error());
    if (*complete)
      return {};
    if (Status waited = waitForMessages(deadline); !waited && waited.error().kind != ErrorKind::Timeout)
      return waited;
    if (std::chrono::steady_clock::now() >= deadline)
      return Error{ErrorKind::Timeout, "the work queued on a stream was not done by its deadline", {}};
  }
}

void NcclWorld::abort(std::string_view message) {
  host.abort(message);
  for (NcclCommunicator *communicator : communicators)
    communicator->abort();
}

} // namespace hocket::runtime::nccl
