// See Messages.h; the states of a slot are in Control.h.
#include "runtime/Comm/Shm/Messages.h"
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace hocket::runtime::shm {
namespace {

constexpr uint32_t phases = 16;
// How long a sleeper may miss an abort, and how long a rank that owes copies sleeps at most.
constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(20), owed = std::chrono::microseconds(200),
                                   streaming = std::chrono::milliseconds(1);

bool isPast(const Slot &slot, uint32_t turn) { return slot.state.load(std::memory_order_acquire) / phases > turn; }

bool predecessorIsDone(const Message &message) {
  uint32_t before = message.number - 1;
  return message.number == 0 || isPast(message.channel->slot[before % Channel::slots], before / Channel::slots);
}

void pauseThread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

std::string Message::describe() const {
  return fmt::format("message {} from rank {} to rank {} on {}", number, from, to, where);
}

// A wait for one message of Messages::post.
class ShmRequest : public Request {
public:
  ShmRequest(Messages &messages, std::shared_ptr<Message> message) : messages(messages), message(std::move(message)) {}

  Result<bool> test() override {
    switch (advance()) {
    case Messages::Progress::Complete:
      return true;
    case Messages::Progress::Mismatched:
      return mismatch();
    case Messages::Progress::Waiting:
      break;
    }
    if (messages.region.aborted())
      return messages.abortError();
    return false;
  }

  Status wait(Deadline deadline) override {
    for (;;) {
      Word &state = message->slot().state;
      uint32_t before = state.load(std::memory_order_acquire);
      Result<bool> done = test();
      if (!done)
        return done.error();
      if (*done)
        return {};
      switch (messages.waitWhile(state, before, deadline)) {
      case Woken::Changed:
        break;
      case Woken::Aborted:
        return messages.abortError();
      case Woken::TimedOut:
        return timeout();
      }
    }
  }

private:
  Messages::Progress advance() {
    std::lock_guard lock(messages.mutex);
    return messages.advance(*message);
  }

  Error mismatch() const {
    const Slot &slot = message->slot();
    return {ErrorKind::Mismatch,
            fmt::format("{}: {} {} sent, {} {} received", message->describe(), slot.sender.count,
                        toString(slot.sender.type), slot.receiver.count, toString(slot.receiver.type)),
            {message->sends ? message->to : message->from}};
  }

  Error timeout() const {
    int peer = message->sends ? message->to : message->from;
    uint32_t phase = message->slot().state.load(std::memory_order_acquire) % phases;
    bool alone = phase == Slot::SendPosted || phase == Slot::ReceivePosted || !message->posted;
    std::string_view owes = !alone           ? "has not finished copying"
                            : message->sends ? "has not received it"
                                             : "has not sent it";
    return {ErrorKind::Timeout, fmt::format("{}: time is up; rank {} {}", message->describe(), peer, owes), {peer}};
  }

  Messages &messages;
  std::shared_ptr<Message> message;
};

Messages::Messages(const Region &region) : region(region) {
  // Spinning pays only where every rank has a core of its own.
  spins = static_cast<unsigned>(region.worldSize()) <= std::thread::hardware_concurrency() ? 200 : 0;
}

std::unique_ptr<Request> Messages::post(Message message) {
  auto shared = std::make_shared<Message>(std::move(message));
  std::lock_guard lock(mutex);
  if (advance(*shared) == Progress::Waiting && (!shared->posted || shared->side.offset == outside)) {
    pending.push_back(shared);
    owing.store(pending.size(), std::memory_order_relaxed);
  }
  return std::make_unique<ShmRequest>(*this, std::move(shared));
}

// The peer may sleep on this message or, in waitForAny, on its bell.
void Messages::enter(const Message &message, uint32_t turn, Slot::Phase phase) {
  message.slot().state.store(turn * phases + phase, std::memory_order_release);
  wakePeer(message);
}

void Messages::finish(const Message &message) { enter(message, message.turn() + 1, Slot::Free); }

void Messages::wakePeer(const Message &message) {
  futexWake(message.slot().state);
  Word &bell = region.status(message.sends ? message.to : message.from).bell;
  bell.fetch_add(1, std::memory_order_release);
  futexWake(bell);
}

Woken Messages::waitForAny(Word &bell, Deadline deadline) {
  // A ring since the last return counts: it may have come between the caller's last test and now.
  uint32_t now = bell.load(std::memory_order_acquire);
  Woken woken = Woken::Changed;
  if (now == heard) {
    // What this rank does for its own messages rings no bell.
    if (owing.load(std::memory_order_relaxed))
      deadline = std::min(deadline, std::chrono::steady_clock::now() + owed);
    woken = waitWhile(bell, heard, deadline);
    now = bell.load(std::memory_order_acquire);
  }
  heard = now;
  return woken;
}

// Does the next thing that message's side has to do. Under the mutex.
Messages::Progress Messages::advance(Message &message) {
  Slot &slot = message.slot();
  for (;;) {
    uint32_t state = slot.state.load(std::memory_order_acquire), turn = state / phases;
    if (turn != message.turn())
      return turn > message.turn() ? Progress::Complete : Progress::Waiting;
    switch (static_cast<Slot::Phase>(state % phases)) {
    case Slot::Free: {
      (message.sends ? slot.sender : slot.receiver) = message.side;
      uint32_t posted = turn * phases + (message.sends ? Slot::SendPosted : Slot::ReceivePosted);
      if (!slot.state.compare_exchange_strong(state, posted, std::memory_order_acq_rel))
        break; // the peer was first: match it
      message.posted = true;
      wakePeer(message);
      return Progress::Waiting;
    }
    case Slot::SendPosted:
      return message.sends ? Progress::Waiting : match(message);
    case Slot::ReceivePosted:
      return message.sends ? match(message) : Progress::Waiting;
    case Slot::Copying:
      return Progress::Waiting;
    case Slot::SenderCopies:
    case Slot::ReceiverCopies:
      if (message.sends != (state % phases == Slot::SenderCopies))
        return Progress::Waiting;
      copyAsOwner(message);
      return Progress::Complete;
    case Slot::BounceEmpty:
      if (!message.sends || !predecessorIsDone(message))
        return Progress::Waiting;
      fillBounce(message);
      return Progress::Waiting;
    case Slot::BounceFull:
      if (message.sends)
        return Progress::Waiting;
      emptyBounce(message);
      break;
    case Slot::Mismatch:
      return Progress::Mismatched;
    }
  }
}

// The peer has posted; this side is second.
Messages::Progress Messages::match(Message &message) {
  Slot &slot = message.slot();
  (message.sends ? slot.sender : slot.receiver) = message.side;
  message.posted = true;
  const Side &peer = message.sends ? slot.receiver : slot.sender;
  if (peer.count != message.side.count || peer.type != message.side.type) {
    enter(message, message.turn(), Slot::Mismatch);
    return Progress::Mismatched;
  }
  if (peer.offset != outside) {
    slot.state.store(message.turn() * phases + Slot::Copying, std::memory_order_release);
    copyAsOwner(message);
    return Progress::Complete;
  }
  if (message.side.offset != outside)
    enter(message, message.turn(), message.sends ? Slot::ReceiverCopies : Slot::SenderCopies);
  else
    enter(message, message.turn(), Slot::BounceEmpty);
  return Progress::Waiting;
}

// Copies between this side's memory, whatever it is, and the peer's, which lies in the region.
void Messages::copyAsOwner(Message &message) {
  Slot &slot = message.slot();
  if (message.sends)
    copyBytes(region.at(slot.receiver.offset), message.data, message.bytes());
  else
    copyBytes(message.data, region.at(slot.sender.offset), message.bytes());
  finish(message);
}

void Messages::fillBounce(Message &message) {
  size_t bytes = std::min(message.bytes() - message.moved, Channel::bounceBytes);
  copyBytes(message.channel->bounce, message.data + message.moved, bytes);
  message.channel->bounced = static_cast<uint32_t>(bytes);
  message.moved += bytes;
  enter(message, message.turn(), Slot::BounceFull);
}

void Messages::emptyBounce(Message &message) {
  size_t bytes = message.channel->bounced;
  copyBytes(message.data + message.moved, message.channel->bounce, bytes);
  message.moved += bytes;
  if (message.moved == message.bytes())
    finish(message);
  else
    enter(message, message.turn(), Slot::BounceEmpty);
}

void Messages::serve() {
  std::lock_guard lock(mutex);
  std::erase_if(pending, [&](const std::shared_ptr<Message> &message) {
    return advance(*message) != Progress::Waiting || (message->posted && message->side.offset != outside);
  });
  owing.store(pending.size(), std::memory_order_relaxed);
}

Woken Messages::waitWhile(Word &word, uint32_t value, Deadline deadline) {
  for (int i = 0; i < spins && word.load(std::memory_order_acquire) == value; ++i)
    pauseThread();
  for (;;) {
    if (word.load(std::memory_order_acquire) != value)
      return Woken::Changed;
    if (region.aborted())
      return Woken::Aborted;
    auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= std::chrono::nanoseconds::zero())
      return Woken::TimedOut;
    bool busy = owing.load(std::memory_order_relaxed) != 0;
    if (busy)
      serve();
    futexWait(word, value, std::min(left, busy ? owed : longest));
  }
}

Woken Messages::waitInCollective(Word &word, uint32_t value, Deadline deadline) {
  while (std::this_thread::get_id() == progressOf && progress && word.load(std::memory_order_acquire) == value &&
         progress()) {
    Woken woken = waitWhile(word, value, std::min(deadline, std::chrono::steady_clock::now() + streaming));
    if (woken != Woken::TimedOut || std::chrono::steady_clock::now() >= deadline)
      return woken;
  }
  return waitWhile(word, value, deadline);
}

Error Messages::abortError() const {
  std::optional<AbortReport> report = region.aborted();
  if (!report)
    return {ErrorKind::Aborted, "ended by another rank", {}};
  if (report->rank < 0)
    return {ErrorKind::Aborted, "ended by the launcher: " + report->message, {}};
  return {ErrorKind::Aborted, fmt::format("ended by rank {}: {}", report->rank, report->message), {report->rank}};
}

} // namespace hocket::runtime::shm
