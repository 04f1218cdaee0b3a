// Meeting, errors and the order of calls of a communicator.
#include "runtime/Comm/NcclEmulator/EmulatedCommunicator.h"
#include "runtime/Comm/NcclEmulator/Functions.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::nccl {

std::string describe(const Piece &piece) {
  if (piece.kind == Piece::Collective)
    return runtime::describe(piece.call);
  bool sends = piece.kind == Piece::Send;
  return fmt::format("{} of {} {} {} member {}", sends ? "send" : "receive", piece.call.count,
                     toString(piece.call.type), sends ? "to" : "from", piece.peer);
}

std::vector<Touch> touchedBy(const Piece &piece, int self, int members) {
  const Call &call = piece.call;
  bool collective = piece.kind == Piece::Collective, broadcast = collective && call.operation == Operation::Broadcast;
  size_t bytes = call.blockBytes(), all = bytes * static_cast<size_t>(members);
  std::vector<Touch> touched;
  if (collective ? !broadcast || self == call.root : piece.kind == Piece::Send)
    touched.push_back({piece.in, collective && call.operation == Operation::ReduceScatter ? all : bytes, false});
  if (collective ? !broadcast || self != call.root || piece.in != piece.out : piece.kind == Piece::Receive)
    touched.push_back({piece.out, collective && call.operation == Operation::AllGather ? all : bytes, true});
  return touched;
}

static bool share(const std::vector<Touch> &one, const std::vector<Touch> &other) {
  auto begin = [](const Touch &touch) { return static_cast<const std::byte *>(touch.memory); };
  for (const Touch &a : one)
    for (const Touch &b : other)
      if ((a.writes || b.writes) && begin(a) < begin(b) + b.bytes && begin(b) < begin(a) + a.bytes)
        return true;
  return false;
}

// ---- messages -------------------------------------------------------------------------------------------------------
Status Posts::add(Result<std::unique_ptr<Request>> request, int peer) {
  if (!request)
    return std::move(request.error());
  open.push_back({std::move(*request), peer});
  return {};
}

Status Posts::send(const void *data, size_t count, ElementType type, int peer) {
  return add(over.send(data, count, type, peer), peer);
}
Status Posts::receive(void *data, size_t count, ElementType type, int peer) {
  return add(over.receive(data, count, type, peer), peer);
}

// All are asked, as each moves on by being asked.
Result<bool> Posts::test() {
  std::vector<Open> left;
  for (Open &message : open) {
    Result<bool> done = message.request->test();
    if (!done) {
      wrong = message.peer;
      return done;
    }
    if (!*done)
      left.push_back(std::move(message));
  }
  open = std::move(left);
  return open.empty();
}

// ---- the communicator -----------------------------------------------------------------------------------------------
static constexpr size_t idWords = sizeof(UniqueId) / 8;

EmulatedCommunicator::EmulatedCommunicator(NcclEmulator &owner, std::shared_ptr<Communicator> over, const UniqueId &id)
    : owner(owner), over(std::move(over)), ids(this->over->size()), greetings(*this->over) {
  int self = this->over->rank();
  ids[self] = id;
  for (int peer = 0; peer < this->over->size() && !failure; ++peer) {
    if (peer == self)
      continue;
    Status posted = greetings.send(&ids[self], idWords, ElementType::I64, peer);
    if (posted)
      posted = greetings.receive(&ids[peer], idWords, ElementType::I64, peer);
    if (!posted)
      fail(posted.error());
  }
}

void EmulatedCommunicator::meet() {
  Result<bool> here = greetings.test();
  if (!here)
    return fail(here.error());
  met = *here;
  for (int peer = 0; met && peer < over->size(); ++peer)
    if (std::memcmp(&ids[peer], &ids[over->rank()], sizeof(UniqueId)) != 0)
      return fail({ErrorKind::Invalid,
                   fmt::format("{}: members {} and {} have different unique ids", over->describe(), over->rank(), peer),
                   {}});
}

int EmulatedCommunicator::state() {
  if (!failure && !met && !ended)
    meet();
  if (!failure && met && putOff && putOffFor-- == 0)
    if (int outcome = std::exchange(putOff, {})())
      return outcome;
  if (failure)
    owner.lastError = text;
  return failure ? failure : !met || putOff ? inProgress : success;
}

void EmulatedCommunicator::fail(const Error &error) {
  if (failure)
    return;
  bool usage = error.kind == ErrorKind::Mismatch || error.kind == ErrorKind::Invalid;
  failure = usage ? invalidUsage : error.kind == ErrorKind::Lacking ? systemError : remoteError;
  text = error.message;
}

// What is on its way stays: a peer may still look at its memory.
void EmulatedCommunicator::end() {
  ended = true;
  putOff = {};
  for (std::shared_ptr<Kernel> &kernel : kernels) {
    owner.resident -= kernel->isRunning();
    owner.kept.push_back(std::move(kernel));
  }
  kernels.clear();
}

int EmulatedCommunicator::take(std::vector<Piece> pieces, std::vector<void *> streams) {
  if (owner.options.issued)
    for (const Piece &piece : pieces)
      owner.options.issued(over->group(), describe(piece));
  std::vector<std::vector<Touch>> touched;
  for (const Piece &piece : pieces) {
    touched.push_back(touchedBy(piece, over->rank(), over->size()));
    for (size_t i = 0; i + 1 < touched.size(); ++i)
      if (share(touched[i], touched.back())) {
        fail({ErrorKind::Invalid,
              fmt::format("{}: {} and {} of one group touch the same memory, and nothing orders them", over->describe(),
                          describe(pieces[i]), describe(piece)),
              {}});
        return state();
      }
  }
  if (owner.random() % 4)
    return launch(std::move(pieces), std::move(streams));
  putOff = [this, pieces = std::move(pieces), streams = std::move(streams)] { return launch(pieces, streams); };
  putOffFor = owner.random() % 3;
  return inProgress;
}

int EmulatedCommunicator::launch(std::vector<Piece> pieces, std::vector<void *> streams) {
  std::shared_ptr<EmulatedCommunicator> self = owner.communicators.at(this);
  return Kernel::queue(std::make_shared<Kernel>(self, std::move(pieces), std::move(streams)));
}

} // namespace hocket::runtime::nccl
