// See ShmCommunicator.h.
#include "runtime/Comm/Shm/ShmCommunicator.h"
#include "runtime/Comm/Reduce.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime::shm {
namespace {

std::string_view toString(Operation operation) {
  constexpr std::string_view names[] = {"barrier",    "all_reduce", "reduce_scatter",
                                        "all_gather", "all_to_all", "broadcast"};
  return names[static_cast<int>(operation)];
}

// `all_reduce sum of 64 f32`, `broadcast of 64 f32 from member 1`
std::string describeCall(const Call &call) {
  if (call.operation == Operation::Barrier)
    return "barrier";
  std::string text(toString(call.operation));
  if (call.operation == Operation::AllReduce || call.operation == Operation::ReduceScatter)
    text += fmt::format(" {}", runtime::toString(call.reduction));
  text += fmt::format(" of {} {}", call.count, runtime::toString(call.type));
  if (call.operation == Operation::Broadcast)
    text += fmt::format(" from member {}", call.root);
  return text;
}

void copyBytes(std::byte *to, const std::byte *from, size_t bytes) {
  if (bytes && to != from)
    std::memcpy(to, from, bytes);
}

// Whether [a, a + aBytes) and [b, b + bBytes) share a byte.
bool overlap(const std::byte *a, size_t aBytes, const std::byte *b, size_t bBytes) {
  return aBytes && bBytes && a < b + bBytes && b < a + aBytes;
}

} // namespace

ShmCommunicator::ShmCommunicator(Group group, int self, const Region &region, GroupControl &control, Messages &messages)
    : Communicator(std::move(group), self), region(region), control(control), messages(messages), sent(size()),
      received(size()) {}

// ---- the calls ------------------------------------------------------------------------------------------------------
Status ShmCommunicator::allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                  When when) {
  return run({Operation::AllReduce, type, reduction, 0, count}, in, out, when.deadline);
}
Status ShmCommunicator::reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                                      When when) {
  return run({Operation::ReduceScatter, type, reduction, 0, count}, in, out, when.deadline);
}
Status ShmCommunicator::allGather(const void *in, void *out, size_t count, ElementType type, When when) {
  return run({Operation::AllGather, type, Reduction::Sum, 0, count}, in, out, when.deadline);
}
Status ShmCommunicator::allToAll(const void *in, void *out, size_t count, ElementType type, When when) {
  return run({Operation::AllToAll, type, Reduction::Sum, 0, count}, in, out, when.deadline);
}
Status ShmCommunicator::broadcast(void *buffer, size_t count, ElementType type, int root, When when) {
  if (root < 0 || root >= size())
    return Error{ErrorKind::Invalid,
                 fmt::format("broadcast from member {} on {}; members are 0 to {}", root, describe(), size() - 1),
                 {}};
  return run({Operation::Broadcast, type, Reduction::Sum, root, count}, buffer, buffer, when.deadline);
}
Status ShmCommunicator::barrier(When when) {
  return run({Operation::Barrier, ElementType::F32, Reduction::Sum, 0, 0}, nullptr, nullptr, when.deadline);
}

// Checks what can be checked alone, and remembers a failure.
Status ShmCommunicator::run(const Call &call, const void *in, void *out, Deadline deadline) {
  if (broken)
    return *broken;
  size_t block = call.count * sizeBytes(call.type), all = block * static_cast<size_t>(size());
  bool splits = call.operation == Operation::ReduceScatter || call.operation == Operation::AllToAll;
  bool joins = call.operation == Operation::AllGather || call.operation == Operation::AllToAll;
  auto *input = static_cast<const std::byte *>(in), *output = static_cast<const std::byte *>(out);
  size_t own = block * static_cast<size_t>(rank());
  bool inPlace = call.operation == Operation::AllReduce       ? input == output
                 : call.operation == Operation::ReduceScatter ? output == input + own
                 : call.operation == Operation::AllGather     ? input == output + own
                                                              : call.operation != Operation::AllToAll;
  if (!inPlace && overlap(input, splits ? all : block, output, joins ? all : block))
    return Error{
        ErrorKind::Invalid, fmt::format("{} on {}: input and output overlap", describeCall(call), describe()), {}};
  Status status = collective(call, in, out, deadline);
  if (!status)
    broken = status.error();
  return status;
}

// ---- collectives ----------------------------------------------------------------------------------------------------
size_t ShmCommunicator::inputBlocks(const Call &call) const {
  bool splits = call.operation == Operation::ReduceScatter || call.operation == Operation::AllToAll;
  return splits ? static_cast<size_t>(size()) : 1;
}

Status ShmCommunicator::collective(const Call &call, const void *in, void *out, Deadline deadline) {
  turn ^= 1;
  record(call, in, out);
  if (Status met = meet(call, deadline); !met)
    return met;
  if (Status agreed = agree(); !agreed)
    return agreed;
  if (call.count == 0)
    return {};
  auto *input = static_cast<const std::byte *>(in);
  auto *output = static_cast<std::byte *>(out);
  size_t inputBytes = inputBlocks(call) * call.count * sizeBytes(call.type);
  bool small = inputBytes <= Record::inlineBytes;
  if (!small && !allInRegion(call))
    return staged(call, input, output, deadline);
  if (!small && call.operation == Operation::AllReduce) {
    reduceChunk(call);
    return meet(call, deadline);
  }
  std::vector<const std::byte *> inputs;
  for (int r = 0; r < size(); ++r)
    inputs.push_back(inputOf(r, small));
  pull(call, inputs, output, {0, call.count, call.count});
  return small ? Status() : meet(call, deadline);
}

// Null where it is private, which only a broadcast's other members' may be.
const std::byte *ShmCommunicator::inputOf(int member, bool small) const {
  const Record &record = recordOf(member);
  if (small)
    return record.data;
  return record.in == outside ? nullptr : region.at(record.in);
}

void ShmCommunicator::record(const Call &call, const void *in, void *out) {
  Record &mine = control.member(rank()).records[turn];
  size_t block = call.count * sizeBytes(call.type), inputBytes = inputBlocks(call) * block;
  mine.call = call;
  mine.in = region.offsetOf(in, inputBytes).value_or(outside);
  mine.out = region.offsetOf(out, block).value_or(outside);
  if (inputBytes && inputBytes <= Record::inlineBytes)
    std::memcpy(mine.data, in, inputBytes);
}

// After a meeting: all must have asked for the same. All members see the same two that differ.
Status ShmCommunicator::agree() const {
  const Call &first = recordOf(0).call;
  for (int r = 1; r < size(); ++r) {
    const Call &other = recordOf(r).call;
    if (other == first)
      continue;
    int a = group().ranks[0], b = group().ranks[r];
    return Error{ErrorKind::Mismatch,
                 fmt::format("{}: rank {} calls {}, rank {} calls {}", describe(), a, describeCall(first), b,
                             describeCall(other)),
                 {a, b}};
  }
  return {};
}

// A barrier. The last to come lets the others go.
Status ShmCommunicator::meet(const Call &call, Deadline deadline) {
  if (size() == 1)
    return {};
  uint32_t generation = control.generation.load(std::memory_order_acquire);
  control.member(rank()).arrivals.store(++arrivals, std::memory_order_release);
  if (control.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == control.size) {
    control.arrived.store(0, std::memory_order_relaxed);
    control.generation.store(generation + 1, std::memory_order_release);
    futexWake(control.generation);
    return {};
  }
  switch (messages.waitInCollective(control.generation, generation, deadline)) {
  case Woken::Changed:
    return {};
  case Woken::TimedOut:
    return missing(call);
  case Woken::Aborted:
    break;
  }
  Error error = messages.abortError();
  for (int rank : missing(call).ranks)
    if (std::find(error.ranks.begin(), error.ranks.end(), rank) == error.ranks.end())
      error.ranks.push_back(rank);
  return std::move(error).in(fmt::format("{} on {}", describeCall(call), describe()));
}

Error ShmCommunicator::missing(const Call &call) const {
  Error error{ErrorKind::Timeout, {}, {}};
  for (int r = 0; r < size(); ++r)
    if (static_cast<int32_t>(control.member(r).arrivals.load(std::memory_order_acquire) - arrivals) < 0)
      error.ranks.push_back(group().ranks[r]);
  error.message = fmt::format("{} on {}: time is up; missing: rank{} {}", describeCall(call), describe(),
                              error.ranks.size() == 1 ? "" : "s", fmt::join(error.ranks, ", "));
  return error;
}

bool ShmCommunicator::allInRegion(const Call &call) const {
  if (call.operation == Operation::Broadcast)
    return recordOf(call.root).in != outside;
  for (int r = 0; r < size(); ++r)
    if (recordOf(r).in == outside || (call.operation == Operation::AllReduce && recordOf(r).out == outside))
      return false;
  return true;
}

// Computes this member's output for a piece from all members' inputs.
void ShmCommunicator::pull(const Call &call, const std::vector<const std::byte *> &in, std::byte *out,
                           Piece piece) const {
  size_t element = sizeBytes(call.type), bytes = piece.count * element, own = piece.stride * element * rank();
  std::byte *target = out + piece.begin * element;
  switch (call.operation) {
  case Operation::Barrier:
    return;
  case Operation::AllReduce:
    return reduceInOrder(in, {&target, 1}, piece.count, call.type, call.reduction);
  case Operation::ReduceScatter: {
    std::vector<const std::byte *> blocks;
    for (const std::byte *input : in)
      blocks.push_back(input + own);
    return reduceInOrder(blocks, {&target, 1}, piece.count, call.type, call.reduction);
  }
  case Operation::AllGather:
    for (int r = 0; r < size(); ++r)
      copyBytes(target + call.count * element * r, in[r], bytes);
    return;
  case Operation::AllToAll:
    for (int r = 0; r < size(); ++r)
      copyBytes(target + call.count * element * r, in[r] + own, bytes);
    return;
  case Operation::Broadcast:
    if (rank() != call.root)
      copyBytes(target, in[call.root], bytes);
    return;
  }
}

// This member's chunk of a large all-reduce, to all outputs. Chunks end on cache lines, so no two members share one.
void ShmCommunicator::reduceChunk(const Call &call) const {
  constexpr size_t line = 64;
  size_t members = static_cast<size_t>(size()), self = static_cast<size_t>(rank());
  auto bound = [&](size_t r) { return r == members ? call.count : call.count * r / members / line * line; };
  size_t begin = bound(self), count = bound(self + 1) - begin, offset = begin * sizeBytes(call.type);
  std::vector<const std::byte *> in;
  std::vector<std::byte *> out;
  for (int r = 0; r < size(); ++r) {
    in.push_back(region.at(recordOf(r).in) + offset);
    out.push_back(region.at(recordOf(r).out) + offset);
  }
  reduceInOrder(in, out, count, call.type, call.reduction);
}

// Piece by piece through the members' bounce buffers.
Status ShmCommunicator::staged(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  size_t element = sizeBytes(call.type), blocks = inputBlocks(call), most = control.bounceBytes / (blocks * element);
  std::vector<const std::byte *> inputs;
  for (int r = 0; r < size(); ++r)
    inputs.push_back(control.bounce(r));
  for (size_t begin = 0; begin < call.count; begin += most) {
    size_t count = std::min(most, call.count - begin);
    for (size_t block = 0; block < blocks; ++block)
      copyBytes(control.bounce(rank()) + block * count * element, in + (block * call.count + begin) * element,
                count * element);
    if (Status met = meet(call, deadline); !met)
      return met;
    pull(call, inputs, out, {begin, count, count});
    if (Status met = meet(call, deadline); !met)
      return met;
  }
  return {};
}

// ---- messages -------------------------------------------------------------------------------------------------------
Result<std::unique_ptr<Request>> ShmCommunicator::post(const void *data, size_t count, ElementType type, int peer,
                                                       bool sends) {
  if (peer < 0 || peer >= size())
    return Error{ErrorKind::Invalid,
                 fmt::format("message {} member {} on {}; members are 0 to {}", sends ? "to" : "from", peer, describe(),
                             size() - 1),
                 {}};
  int from = sends ? rank() : peer, to = sends ? peer : rank();
  Message message;
  message.channel = &control.channel(from, to);
  message.number = (sends ? sent : received)[peer]++;
  message.sends = sends;
  message.data = const_cast<std::byte *>(static_cast<const std::byte *>(data));
  message.side = {region.offsetOf(data, count * sizeBytes(type)).value_or(outside), count, type};
  message.from = group().ranks[from];
  message.to = group().ranks[to];
  message.where = describe();
  return messages.post(std::move(message));
}

Result<std::unique_ptr<Request>> ShmCommunicator::send(const void *data, size_t count, ElementType type, int peer,
                                                       void *) {
  return post(data, count, type, peer, true);
}
Result<std::unique_ptr<Request>> ShmCommunicator::receive(void *data, size_t count, ElementType type, int peer,
                                                          void *) {
  return post(data, count, type, peer, false);
}

} // namespace hocket::runtime::shm
