// See Functions.h. A call outside a group is a group of one.
#include "runtime/Comm/NcclEmulator/Functions.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace hocket::runtime::nccl {

namespace {
// The calls of one communicator in the group that is open.
struct Collected {
  Handle handle;
  std::vector<Piece> pieces;
  std::vector<void *> streams;
};
struct OpenGroup {
  int depth = 0;
  int fault = success;
  std::vector<Collected> collected; // in the order in which communicators were first called
};
thread_local OpenGroup group;

std::optional<ElementType> elementOf(int type) {
  for (ElementType element :
       {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::F16, ElementType::I32, ElementType::I64})
    if (typeOf(element) == type)
      return element;
  return {};
}

std::optional<Reduction> reductionOf(int operation) {
  for (Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min})
    if (operationOf(reduction) == operation)
      return reduction;
  return {};
}
} // namespace

// ---- the library ----------------------------------------------------------------------------------------------------
Library NcclEmulator::library() {
  Library table;
#define HOCKET_EMULATED(field, name, ...) table.field = Functions::field;
  HOCKET_NCCL_FUNCTIONS(HOCKET_EMULATED)
#undef HOCKET_EMULATED
  return table;
}

int Functions::getVersion(int *version) { return *version = leastVersion, success; }

const char *Functions::getErrorString(int outcome) {
  switch (outcome) {
  case success:
    return "no error";
  case systemError:
    return "unhandled system error";
  case invalidArgument:
    return "invalid argument";
  case invalidUsage:
    return "invalid usage";
  case remoteError:
    return "remote process exited or there was a network error";
  case inProgress:
    return "in progress";
  default:
    return "unknown result code";
  }
}

const char *Functions::getLastError(Handle) { return current ? current->lastError.c_str() : ""; }

int Functions::refuse(int outcome, std::string text) {
  if (current)
    current->lastError = std::move(text);
  if (group.depth > 0 && !group.fault)
    group.fault = outcome;
  return outcome;
}

// ---- communicators --------------------------------------------------------------------------------------------------
int Functions::getUniqueId(UniqueId *id) {
  if (!current)
    return invalidUsage;
  *id = {};
  int64_t words[] = {current->rank(), ++current->ids};
  std::memcpy(id->bytes, words, sizeof words);
  return success;
}

int Functions::initRankConfig(Handle *handle, int size, UniqueId id, int rank, Config *config) {
  if (!current || !current->latest)
    return refuse(invalidUsage, "no communicator of the host's world was made before");
  std::shared_ptr<Communicator> over = std::move(current->latest);
  if (size != over->size() || rank != over->rank())
    return refuse(invalidArgument, fmt::format("member {} of {}; {} has this rank as member {} of {}", rank, size,
                                               over->describe(), over->rank(), over->size()));
  if (!config || config->magic != Config().magic || config->blocking)
    return refuse(invalidArgument, "a communicator that waits in its calls");
  auto made = std::make_shared<EmulatedCommunicator>(*current, std::move(over), id);
  *handle = made.get();
  current->communicators[made.get()] = made;
  return made->state();
}

std::shared_ptr<EmulatedCommunicator> Functions::find(Handle handle) {
  if (!current)
    return nullptr;
  auto found = current->communicators.find(handle);
  return found == current->communicators.end() ? nullptr : found->second;
}

int Functions::getAsyncError(Handle handle, int *state) {
  std::shared_ptr<EmulatedCommunicator> on = find(handle);
  if (!on)
    return refuse(invalidArgument, "no such communicator");
  *state = on->state();
  return success;
}

int Functions::end(Handle handle) {
  std::shared_ptr<EmulatedCommunicator> on = find(handle);
  if (!on)
    return refuse(invalidArgument, "no such communicator");
  on->end();
  current->kept.push_back(on);
  current->communicators.erase(handle);
  return success;
}
int Functions::destroy(Handle handle) { return end(handle); }
int Functions::abort(Handle handle) { return end(handle); }

// ---- groups ---------------------------------------------------------------------------------------------------------
int Functions::groupStart() { return ++group.depth, success; }

int Functions::groupEnd() {
  if (group.depth == 0)
    return refuse(invalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--group.depth > 0)
    return success;
  OpenGroup ended = std::exchange(group, {});
  int outcome = ended.fault;
  for (Collected &calls : ended.collected) {
    std::shared_ptr<EmulatedCommunicator> on = find(calls.handle);
    if (ended.fault || !on)
      continue;
    int taken = on->take(std::move(calls.pieces), std::move(calls.streams));
    if (outcome == success || (taken != success && taken != inProgress))
      outcome = taken;
  }
  return outcome;
}

int Functions::add(Piece piece, Handle handle, void *stream) {
  auto known = [&](const Collected &calls) { return calls.handle == handle; };
  auto calls = std::find_if(group.collected.begin(), group.collected.end(), known);
  if (calls == group.collected.end())
    calls = group.collected.insert(calls, {handle, {}, {}});
  calls->pieces.push_back(piece);
  if (std::find(calls->streams.begin(), calls->streams.end(), stream) == calls->streams.end())
    calls->streams.push_back(stream);
  if (group.depth > 0)
    return success;
  groupStart();
  return groupEnd();
}

// ---- calls ----------------------------------------------------------------------------------------------------------
// What every call must have: a communicator on which the call before is through, a type and a stream.
Result<EmulatedCommunicator *> Functions::ready(Handle handle, int type, void *stream) {
  std::shared_ptr<EmulatedCommunicator> on = find(handle);
  int state = on ? on->state() : success;
  if (on && elementOf(type) && stream && state == success)
    return on.get();
  return Error{ErrorKind::Invalid,
               !on                   ? "no such communicator"
               : !elementOf(type)    ? fmt::format("data type {}", type)
               : !stream             ? "the default stream"
               : state == inProgress ? fmt::format("{}: the call before is in progress", on->on().describe())
                                     : on->error(),
               {}};
}

int Functions::collective(Operation operation, const void *in, void *out, size_t count, int type, int reduction,
                          int root, Handle handle, void *stream) {
  Result<EmulatedCommunicator *> on = ready(handle, type, stream);
  std::optional<Reduction> by = reductionOf(reduction);
  if (!on || !by)
    return refuse(invalidArgument, on ? fmt::format("reduction {}", reduction) : on.error().message);
  Call call{operation, *elementOf(type), *by, root, count};
  if (Status sound = checkCall((*on)->on(), call, in, out); !sound)
    return refuse(invalidArgument, sound.error().message);
  return add({Piece::Collective, call, 0, static_cast<const std::byte *>(in), static_cast<std::byte *>(out)}, handle,
             stream);
}

int Functions::message(bool sends, void *data, size_t count, int type, int peer, Handle handle, void *stream) {
  Result<EmulatedCommunicator *> on = ready(handle, type, stream);
  if (!on)
    return refuse(invalidArgument, on.error().message);
  if (Status sound = checkPeer((*on)->on(), peer, sends); !sound)
    return refuse(invalidArgument, sound.error().message);
  Piece piece{sends ? Piece::Send : Piece::Receive, {}, peer, nullptr, nullptr};
  piece.call.type = *elementOf(type);
  piece.call.count = count;
  piece.in = piece.out = static_cast<std::byte *>(data);
  return add(piece, handle, stream);
}

int Functions::allReduce(const void *in, void *out, size_t count, int type, int operation, Handle handle,
                         void *stream) {
  return collective(Operation::AllReduce, in, out, count, type, operation, 0, handle, stream);
}
int Functions::reduceScatter(const void *in, void *out, size_t count, int type, int operation, Handle handle,
                             void *stream) {
  return collective(Operation::ReduceScatter, in, out, count, type, operation, 0, handle, stream);
}
int Functions::allGather(const void *in, void *out, size_t count, int type, Handle handle, void *stream) {
  return collective(Operation::AllGather, in, out, count, type, 0, 0, handle, stream);
}
int Functions::broadcast(const void *in, void *out, size_t count, int type, int root, Handle handle, void *stream) {
  return collective(Operation::Broadcast, in, out, count, type, 0, root, handle, stream);
}
int Functions::send(const void *data, size_t count, int type, int peer, Handle handle, void *stream) {
  return message(true, const_cast<void *>(data), count, type, peer, handle, stream);
}
int Functions::receive(void *data, size_t count, int type, int peer, Handle handle, void *stream) {
  return message(false, data, count, type, peer, handle, stream);
}

} // namespace hocket::runtime::nccl
