// The life of a kernel on the emulator's streams, and what its calls are made of.
//
// A collective: every member tells every other what it calls (a header), then the data go as messages.
//   all_reduce      member r gets part r of all, adds in the order of members, and gives the sum to all
//   reduce_scatter  the first half of that, all_gather the second
#include "runtime/Comm/NcclEmulator/EmulatedCommunicator.h"
#include "runtime/Comm/NcclEmulator/Functions.h"
#include "runtime/Comm/Reduce.h"
#include "runtime/Device/BorrowedStream.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::nccl {

namespace {
// No program sends messages of f64, so a header that meets a message does not match it.
constexpr ElementType headerType = ElementType::F64;

} // namespace

Kernel::Kernel(std::shared_ptr<EmulatedCommunicator> communicator, std::vector<Piece> calls,
               std::vector<void *> onStreams)
    : on(std::move(communicator)), owner(on->owner), size(on->on().size()), self(on->on().rank()),
      pieces(std::move(calls)), streams(std::move(onStreams)), posts(*on->over), headers(size), staging(size),
      capture(owner.options.capturing ? owner.options.capturing(streams[0]) : 0), arrived(streams.size()) {
  steps.push_back([this] { return postMessages(); });
  for (const Piece &piece : pieces)
    if (piece.kind == Piece::Collective)
      addCollective(piece);
}

// ---- its life -------------------------------------------------------------------------------------------------------
int Kernel::queue(const std::shared_ptr<Kernel> &kernel) {
  EmulatedCommunicator &on = *kernel->on;
  if (!kernel->capture)
    kernel->ticket = on.issued++;
  else
    for (const std::shared_ptr<Kernel> &earlier : on.kernels)
      if (earlier->capture == kernel->capture)
        kernel->before = earlier;
  on.kernels.push_back(kernel);
  for (size_t i = 0; i < kernel->streams.size(); ++i) {
    BorrowedStream stream(kernel->streams[i]);
    Status queued = kernel->owner.device.enqueue(
        stream, [kernel, i]() -> Result<bool> { return kernel->poll(i); }, i == 0 ? kernel->touches() : Touches());
    if (!queued) {
      on.fail(queued.error());
      return on.state();
    }
  }
  return success;
}

// All in one, as all of its calls are on their way together. On more than one stream only what is before it on the
// first is known to be before it.
Touches Kernel::touches() const {
  Touches all;
  for (const Piece &piece : pieces) {
    all.by += (all.by.empty() ? "" : ", ") + describe(piece);
    std::vector<Touch> of = touchedBy(piece, self, size);
    all.memory.insert(all.memory.end(), of.begin(), of.end());
  }
  return all;
}

// Begins when it is its turn on every stream, and lets all of them go on when it is complete.
bool Kernel::poll(size_t stream) {
  if (on->ended)
    return true;
  if (!arrived[stream]) {
    arrived[stream] = true;
    ++arrivals;
  }
  if (phase == Waiting && arrivals == streams.size() && mayStart()) {
    phase = Running;
    on->running = this;
    ++owner.resident;
  }
  if (phase == Running && advance())
    complete();
  if (phase != Complete)
    return false;
  if (++departures == streams.size()) {
    arrived.assign(streams.size(), false);
    arrivals = departures = next = 0;
    phase = Waiting;
  }
  return true;
}

bool Kernel::mayStart() const {
  bool itsTurn = capture ? !before || before->runs > runs : runs > 0 || on->finished == ticket;
  return itsTurn && !on->running && !on->failure && owner.resident < owner.options.resident;
}

bool Kernel::advance() {
  while (!on->failure) {
    Result<bool> done = posts.test();
    if (!done)
      on->fail(described(done.error()));
    else if (!*done)
      return false;
    else if (next == steps.size())
      return true;
    else if (Status stepped = steps[next++](); !stepped)
      on->fail(stepped.error());
  }
  return false;
}

// Kernels that a graph captured stay with their communicator.
void Kernel::complete() {
  phase = Complete;
  on->running = nullptr;
  --owner.resident;
  on->finished += !capture && runs == 0;
  ++runs;
  if (!capture)
    std::erase_if(on->kernels, [this](const std::shared_ptr<Kernel> &kernel) { return kernel.get() == this; });
}

// A header that met a message says little by itself.
Error Kernel::described(Error error) const {
  if (error.kind != ErrorKind::Mismatch)
    return error;
  std::string header = fmt::format("{} {}", std::tuple_size_v<Header>, toString(headerType));
  bool met = comparing || error.message.find(header) != std::string::npos;
  if (!met)
    return error;
  int peer = on->on().group().ranks[posts.wrongPeer()], own = on->on().group().ranks[self];
  return {ErrorKind::Mismatch,
          fmt::format("{}: rank {} {}, rank {} {}", on->on().describe(), own,
                      comparing ? "calls " + runtime::describe(*comparing) : "sends or receives a message", peer,
                      comparing ? "sends or receives a message" : "calls a collective"),
          {own, peer}};
}

// ---- its calls ------------------------------------------------------------------------------------------------------
Status Kernel::postMessages() {
  for (const Piece &piece : pieces) {
    const Call &call = piece.call;
    Status posted;
    if (piece.kind == Piece::Send)
      posted = posts.send(piece.in, call.count, call.type, piece.peer);
    else if (piece.kind == Piece::Receive)
      posted = posts.receive(piece.out, call.count, call.type, piece.peer);
    if (!posted)
      return posted;
  }
  return {};
}

void Kernel::addCollective(const Piece &piece) {
  steps.push_back([this, &piece] { return postHeaders(piece.call); });
  steps.push_back([this, &piece] { return compareHeaders(piece.call); });
  size_t count = piece.call.count;
  switch (piece.call.operation) {
  case Operation::AllReduce:
    return addAllReduce(piece);
  case Operation::ReduceScatter:
    return addReduction(piece, [count](int r) { return Part{static_cast<size_t>(r) * count, count}; }, piece.out);
  case Operation::AllGather:
    return steps.push_back([this, &piece] { return gather(piece); });
  default:
    return steps.push_back([this, &piece] { return broadcast(piece); });
  }
}

Status Kernel::postHeaders(const Call &call) {
  comparing = &call;
  headers[self] = {static_cast<int64_t>(call.operation), static_cast<int64_t>(call.type),
                   static_cast<int64_t>(call.reduction), call.root, static_cast<int64_t>(call.count)};
  for (int peer = 0; peer < size; ++peer) {
    if (peer == self)
      continue;
    if (Status sent = posts.send(&headers[self], std::tuple_size_v<Header>, headerType, peer); !sent)
      return sent;
    if (Status posted = posts.receive(&headers[peer], std::tuple_size_v<Header>, headerType, peer); !posted)
      return posted;
  }
  return {};
}

Status Kernel::compareHeaders(const Call &call) {
  comparing = nullptr;
  std::vector<Call> calls;
  for (const Header &header : headers)
    calls.push_back({static_cast<Operation>(header[0]), static_cast<ElementType>(header[1]),
                     static_cast<Reduction>(header[2]), static_cast<int32_t>(header[3]),
                     static_cast<uint64_t>(header[4])});
  return agree(on->on(), calls);
}

// Sends every member its part, and adds what comes for this one's.
void Kernel::addReduction(const Piece &piece, std::function<Part(int)> partOf, std::byte *out) {
  size_t element = sizeBytes(piece.call.type), own = partOf(self).count;
  steps.push_back([this, &piece, partOf, element, own] {
    Status posted;
    for (int peer = 0; peer < size && posted; ++peer) {
      if (peer == self)
        continue;
      Part part = partOf(peer);
      staging[peer].resize(own * element);
      posted = posts.send(piece.in + part.begin * element, part.count, piece.call.type, peer);
      if (posted)
        posted = posts.receive(staging[peer].data(), own, piece.call.type, peer);
    }
    return posted;
  });
  steps.push_back([this, &piece, partOf, element, own, out] {
    std::vector<const std::byte *> in;
    for (int r = 0; r < size; ++r)
      in.push_back(r == self ? piece.in + partOf(self).begin * element : staging[r].data());
    reduceInOrder(in, {{out}}, own, piece.call.type, piece.call.reduction);
    return Status();
  });
}

void Kernel::addAllReduce(const Piece &piece) {
  size_t count = piece.call.count, members = static_cast<size_t>(size), element = sizeBytes(piece.call.type);
  auto partOf = [count, members](int r) {
    size_t begin = count * static_cast<size_t>(r) / members;
    return Part{begin, count * static_cast<size_t>(r + 1) / members - begin};
  };
  addReduction(piece, partOf, piece.out + partOf(self).begin * element);
  steps.push_back([this, &piece, partOf, element] {
    Status posted;
    for (int peer = 0; peer < size && posted; ++peer) {
      if (peer == self)
        continue;
      Part mine = partOf(self), theirs = partOf(peer);
      posted = posts.send(piece.out + mine.begin * element, mine.count, piece.call.type, peer);
      if (posted)
        posted = posts.receive(piece.out + theirs.begin * element, theirs.count, piece.call.type, peer);
    }
    return posted;
  });
}

Status Kernel::gather(const Piece &piece) {
  size_t bytes = piece.call.blockBytes();
  copyBytes(piece.out + static_cast<size_t>(self) * bytes, piece.in, bytes);
  Status posted;
  for (int peer = 0; peer < size && posted; ++peer) {
    if (peer == self)
      continue;
    posted = posts.send(piece.in, piece.call.count, piece.call.type, peer);
    if (posted)
      posted = posts.receive(piece.out + static_cast<size_t>(peer) * bytes, piece.call.count, piece.call.type, peer);
  }
  return posted;
}

Status Kernel::broadcast(const Piece &piece) {
  const Call &call = piece.call;
  if (self != call.root)
    return posts.receive(piece.out, call.count, call.type, call.root);
  copyBytes(piece.out, piece.in, call.blockBytes());
  Status posted;
  for (int peer = 0; peer < size && posted; ++peer)
    if (peer != self)
      posted = posts.send(piece.in, call.count, call.type, peer);
  return posted;
}

} // namespace hocket::runtime::nccl
