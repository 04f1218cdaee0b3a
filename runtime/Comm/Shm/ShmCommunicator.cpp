// See ShmCommunicator.h.
#include "runtime/Comm/Shm/ShmCommunicator.h"
#include "runtime/Comm/Reduce.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::shm {

ShmCommunicator::ShmCommunicator(Group group, int self, const Region &region, GroupControl &control, Messages &messages)
    : HostCommunicator(std::move(group), self), region(region), control(control), messages(messages), sent(size()),
      received(size()) {}

// ---- collectives ----------------------------------------------------------------------------------------------------
Status ShmCommunicator::collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  turn ^= 1;
  record(call, in, out);
  if (Status met = meet(call, deadline); !met)
    return met;
  if (Status same = agreed(); !same)
    return same;
  if (call.count == 0)
    return {};
  size_t inputBytes = call.inputBlocks(size()) * call.blockBytes();
  bool small = inputBytes <= Record::inlineBytes;
  if (!small && !allInRegion(call))
    return staged(call, in, out, deadline);
  if (!small && call.operation == Operation::AllReduce) {
    reduceChunk(call);
    return meet(call, deadline);
  }
  std::vector<const std::byte *> inputs;
  for (int r = 0; r < size(); ++r)
    inputs.push_back(inputOf(r, small));
  combine(call, rank(), inputs, out, {0, call.count, call.count});
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
  size_t block = call.blockBytes(), inputBytes = call.inputBlocks(size()) * block;
  mine.call = call;
  mine.in = region.offsetOf(in, inputBytes).value_or(outside);
  mine.out = region.offsetOf(out, block).value_or(outside);
  if (inputBytes && inputBytes <= Record::inlineBytes)
    std::memcpy(mine.data, in, inputBytes);
}

// After a meeting: all must have asked for the same.
Status ShmCommunicator::agreed() const {
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r)
    calls.push_back(recordOf(r).call);
  return agree(*this, calls);
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
  return std::move(error).in(fmt::format("{} on {}", runtime::describe(call), describe()));
}

Error ShmCommunicator::missing(const Call &call) const {
  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r)
    if (static_cast<int32_t>(control.member(r).arrivals.load(std::memory_order_acquire) - arrivals) < 0)
      ranks.push_back(group().ranks[r]);
  return timeIsUp(*this, call, std::move(ranks));
}

bool ShmCommunicator::allInRegion(const Call &call) const {
  if (call.operation == Operation::Broadcast)
    return recordOf(call.root).in != outside;
  for (int r = 0; r < size(); ++r)
    if (recordOf(r).in == outside || (call.operation == Operation::AllReduce && recordOf(r).out == outside))
      return false;
  return true;
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
  size_t element = sizeBytes(call.type), blocks = call.inputBlocks(size()),
         most = control.bounceBytes / (blocks * element);
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
    combine(call, rank(), inputs, out, {begin, count, count});
    if (Status met = meet(call, deadline); !met)
      return met;
  }
  return {};
}

// ---- messages -------------------------------------------------------------------------------------------------------
Result<std::unique_ptr<Request>> ShmCommunicator::post(std::byte *data, size_t count, ElementType type, int peer,
                                                       bool sends) {
  int from = sends ? rank() : peer, to = sends ? peer : rank();
  Message message;
  message.channel = &control.channel(from, to);
  message.number = (sends ? sent : received)[peer]++;
  message.sends = sends;
  message.data = data;
  message.side = {region.offsetOf(data, count * sizeBytes(type)).value_or(outside), count, type};
  message.from = group().ranks[from];
  message.to = group().ranks[to];
  message.where = describe();
  return messages.post(std::move(message));
}

} // namespace hocket::runtime::shm
