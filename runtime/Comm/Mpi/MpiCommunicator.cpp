// See MpiCommunicator.h.
#include "runtime/Comm/Mpi/MpiCommunicator.h"
#include "runtime/Comm/Reduce.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::mpi {

MpiCommunicator::MpiCommunicator(Group group, int self, Engine &engine, std::atomic<uint32_t> &calls)
    : HostCommunicator(std::move(group), self), engine(engine), calls(calls),
      records(sizeof(Record) * static_cast<size_t>(size())), sending(size()), receiving(size()) {}

MpiCommunicator::~MpiCommunicator() {
  if (!isBroken())
    return;
  engine.keep(std::move(records));
  engine.keep(std::move(staging));
}

// ---- collectives ----------------------------------------------------------------------------------------------------
Status MpiCommunicator::collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  calls.fetch_add(1, std::memory_order_release);
  if (Status met = meet(call, in, deadline); !met)
    return met;
  if (call.count == 0)
    return {};
  size_t inputBytes = call.inputBlocks(size()) * call.blockBytes();
  if (inputBytes <= Record::inlineBytes) {
    std::vector<const std::byte *> inputs;
    for (int r = 0; r < size(); ++r)
      inputs.push_back(recordOf(r).data);
    combine(call, rank(), inputs, out, {0, call.count, call.count});
    return {};
  }
  switch (call.operation) {
  case Operation::AllReduce:
    return reduceAll(call, in, out, deadline);
  case Operation::ReduceScatter:
    return reduceOwn(call, in, out, deadline);
  default:
    return direct(call, in, out, deadline);
  }
}

// Every member's call, and its input where that is small.
Status MpiCommunicator::meet(const Call &call, const std::byte *in, Deadline deadline) {
  size_t inputBytes = call.inputBlocks(size()) * call.blockBytes();
  Record &mine = recordOf(rank());
  mine.call = call;
  bool small = inputBytes <= Record::inlineBytes;
  if (small && inputBytes)
    std::memcpy(mine.data, in, inputBytes);
  size_t bytes = offsetof(Record, data) + (small ? inputBytes : 0);
  Exchange exchange;
  for (int r = 0; r < size(); ++r)
    if (r != rank()) {
      if (Status posted = add(exchange, false, r, &recordOf(r), sizeof(Record), Kind::Call); !posted)
        return posted;
      if (Status posted = add(exchange, true, r, &mine, bytes, Kind::Call); !posted)
        return posted;
    }
  if (Status met = finish(exchange, call, deadline); !met)
    return met;
  std::vector<Call> asked;
  for (int r = 0; r < size(); ++r)
    asked.push_back(recordOf(r).call);
  return agree(*this, asked);
}

// All-gather, all-to-all, broadcast: blocks go from buffer to buffer.
Status MpiCommunicator::direct(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  size_t block = call.blockBytes();
  bool broadcasts = call.operation == Operation::Broadcast, splits = call.operation == Operation::AllToAll;
  Exchange exchange;
  for (int step = 1; step < size(); ++step) { // each member begins with its neighbour, so that no one is flooded
    int to = (rank() + step) % size(), from = (rank() + size() - step) % size();
    if (!broadcasts || from == call.root)
      if (Status posted = add(exchange, false, from, out + (broadcasts ? 0 : from * block), block, Kind::Data); !posted)
        return posted;
    if (!broadcasts || rank() == call.root)
      if (Status posted = add(exchange, true, to, in + (splits ? to * block : 0), block, Kind::Data); !posted)
        return posted;
  }
  std::byte *own = out + rank() * block;
  const std::byte *mine = in + (splits ? rank() * block : 0);
  if (!broadcasts && own != mine)
    std::memcpy(own, mine, block);
  return finish(exchange, call, deadline);
}

// A reduce-scatter, piece by piece of the block.
Status MpiCommunicator::reduceOwn(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  size_t element = sizeBytes(call.type), block = call.blockBytes(), members = static_cast<size_t>(size());
  size_t most = std::max<size_t>(1, stagingBytes / members / element) * element;
  for (size_t begin = 0; begin < block; begin += most) {
    size_t bytes = std::min(most, block - begin);
    std::vector<size_t> offsets;
    for (size_t r = 0; r < members; ++r)
      offsets.push_back(r * block + begin);
    if (Status done = scatter(call, in, offsets, std::vector<size_t>(members, bytes), out + begin, deadline); !done)
      return done;
  }
  return {};
}

// An all-reduce: a reduce-scatter over parts of a piece, then an all-gather of them.
Status MpiCommunicator::reduceAll(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  size_t element = sizeBytes(call.type), members = static_cast<size_t>(size()), self = static_cast<size_t>(rank());
  size_t most = std::max(members, stagingBytes / element);
  for (size_t begin = 0; begin < call.count; begin += most) {
    size_t count = std::min(most, call.count - begin);
    std::vector<size_t> offsets, bytes;
    for (size_t r = 0; r < members; ++r) {
      size_t from = count * r / members, to = count * (r + 1) / members;
      offsets.push_back((begin + from) * element);
      bytes.push_back((to - from) * element);
    }
    if (Status done = scatter(call, in, offsets, bytes, out + offsets[self], deadline); !done)
      return done;
    Exchange exchange;
    for (int step = 1; step < size(); ++step) {
      int to = (rank() + step) % size(), from = (rank() + size() - step) % size();
      if (Status posted = add(exchange, false, from, out + offsets[from], bytes[from], Kind::Data); !posted)
        return posted;
      if (Status posted = add(exchange, true, to, out + offsets[self], bytes[self], Kind::Data); !posted)
        return posted;
    }
    if (Status done = finish(exchange, call, deadline); !done)
      return done;
  }
  return {};
}

Status MpiCommunicator::scatter(const Call &call, const std::byte *in, const std::vector<size_t> &offsets,
                                const std::vector<size_t> &bytes, std::byte *out, Deadline deadline) {
  size_t self = static_cast<size_t>(rank()), own = bytes[self];
  size_t stride = (own + 63) / 64 * 64;
  if (staging.size() < stride * offsets.size())
    staging.resize(stride * offsets.size());
  std::vector<const std::byte *> inputs(offsets.size());
  inputs[self] = in + offsets[self];
  Exchange exchange;
  for (int step = 1; step < size(); ++step) {
    int to = (rank() + step) % size(), from = (rank() + size() - step) % size();
    std::byte *part = staging.data() + stride * static_cast<size_t>(from);
    inputs[from] = part;
    if (Status posted = add(exchange, false, from, part, own, Kind::Data); !posted)
      return posted;
    if (Status posted = add(exchange, true, to, in + offsets[to], bytes[to], Kind::Data); !posted)
      return posted;
  }
  if (Status done = finish(exchange, call, deadline); !done)
    return done;
  reduceInOrder(inputs, {&out, 1}, own / sizeBytes(call.type), call.type, call.reduction);
  return {};
}

Status MpiCommunicator::add(Exchange &exchange, bool sends, int member, const void *data, size_t bytes, Kind kind) {
  Result<int> tag = engine.tag(group().id, kind);
  if (!tag)
    return std::move(tag.error());
  int peer = group().ranks[static_cast<size_t>(member)];
  std::lock_guard lock(engine.mutex);
  Status posted = sends ? engine.send(exchange.requests, data, bytes, peer, *tag)
                        : engine.receive(exchange.requests, const_cast<void *>(data), bytes, peer, *tag);
  exchange.members.resize(exchange.requests.size(), member);
  return posted;
}

Status MpiCommunicator::finish(Exchange &exchange, const Call &call, Deadline deadline) {
  Result<bool> waited = engine.wait([&] { return engine.complete(exchange.requests); }, deadline, true);
  if (waited && *waited)
    return {};
  std::vector<int> absent = missing(exchange);
  if (waited)
    return timeIsUp(*this, call, engine.blame(group().ranks, std::move(absent)));
  Error error = std::move(waited.error());
  for (int rank : absent)
    if (std::find(error.ranks.begin(), error.ranks.end(), rank) == error.ranks.end())
      error.ranks.push_back(rank);
  return std::move(error).in(fmt::format("{} on {}", runtime::describe(call), describe()));
}

// World ranks of the members with which a transfer is not complete, in the members' order.
std::vector<int> MpiCommunicator::missing(Exchange &exchange) {
  std::vector<bool> open(static_cast<size_t>(size()));
  std::lock_guard lock(engine.mutex);
  for (size_t i = 0; i < exchange.requests.size(); ++i)
    if (Result<bool> done = engine.complete(exchange.requests[i]); !done || !*done)
      open[static_cast<size_t>(exchange.members[i])] = true;
  std::vector<int> result;
  for (int r = 0; r < size(); ++r)
    if (open[static_cast<size_t>(r)])
      result.push_back(group().ranks[static_cast<size_t>(r)]);
  return result;
}

// ---- messages -------------------------------------------------------------------------------------------------------
Result<std::unique_ptr<Request>> MpiCommunicator::post(std::byte *data, size_t count, ElementType type, int peer,
                                                       bool sends) {
  std::shared_ptr<Channel> &channel = (sends ? sending : receiving)[static_cast<size_t>(peer)];
  if (!channel) {
    if (Result<int> tag = engine.tag(group().id, Kind::Message); !tag)
      return std::move(tag.error());
    channel =
        std::make_shared<Channel>(engine, sends, group().ranks[static_cast<size_t>(peer)], group().id, describe());
  }
  return channel->post(data, count, type);
}

} // namespace hocket::runtime::mpi
