// See Mail.h. A frame is a Head and a part of a letter; letters of one way and kind come in order.
#include "runtime/Comm/Tcp/Mail.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::tcp {

namespace {
struct Head {
  uint32_t group;
  Kind kind;
  uint64_t total; // bytes of the letter
};
struct Size { // before the data of a message, and in the word that it was received
  uint64_t count;
  ElementType type;
};
constexpr size_t partBytes = 256 << 10;

Size sizeIn(std::string_view letter) {
  Size size{};
  std::memcpy(&size, letter.data(), std::min(letter.size(), sizeof size));
  return size;
}

std::string_view bytesOf(const Size &size) { return {reinterpret_cast<const char *>(&size), sizeof size}; }
} // namespace

// ---- letters --------------------------------------------------------------------------------------------------------
void Mail::send(Way way, Kind kind, std::string_view body) {
  if (way.peer == rank) {
    std::unique_lock lock(mutex);
    deliver({way.group, rank}, kind, std::string(body));
  } else {
    size_t at = 0;
    do {
      Head head{way.group, kind, body.size()};
      std::string frame(reinterpret_cast<const char *>(&head), sizeof head);
      line->mail(way.peer, frame.append(body.substr(at, partBytes)));
      at += partBytes;
    } while (at < body.size());
  }
  std::vector<std::pair<Way, std::string>> words;
  {
    std::lock_guard lock(mutex);
    words.swap(due);
  }
  for (auto &[to, word] : words)
    send(to, Kind::Received, word);
}

void Mail::arrived(int from, std::string_view frame) {
  Head head;
  if (frame.size() < sizeof head)
    return;
  std::memcpy(&head, frame.data(), sizeof head);
  std::vector<std::pair<Way, std::string>> words;
  {
    std::lock_guard lock(mutex);
    Way way{head.group, from};
    std::string &partial = boxes[{way, head.kind}].partial;
    partial.append(frame.substr(sizeof head));
    if (partial.size() < head.total)
      return;
    deliver(way, head.kind, std::exchange(partial, {}));
    words.swap(due);
  }
  for (auto &[to, word] : words)
    send(to, Kind::Received, word);
}

void Mail::deliver(Way way, Kind kind, std::string letter) {
  ++moves;
  changed.notify_all();
  if (kind == Kind::Received) {
    std::deque<std::shared_ptr<Posted>> &sends = ways[way].sends;
    if (sends.empty())
      return;
    Size size = sizeIn(letter);
    sends.front()->otherCount = size.count;
    sends.front()->otherType = size.type;
    sends.front()->complete = true;
    sends.pop_front();
    return;
  }
  boxes[{way, kind}].letters.push_back(std::move(letter));
  if (kind == Kind::Message)
    match(way);
}

// Gives what has come to those who wait for it, in order.
void Mail::match(Way way) {
  std::deque<std::string> &letters = boxes[{way, Kind::Message}].letters;
  std::deque<std::shared_ptr<Posted>> &receives = ways[way].receives;
  while (!letters.empty() && !receives.empty()) {
    Posted &message = *receives.front();
    Size size = sizeIn(letters.front());
    message.otherCount = size.count;
    message.otherType = size.type;
    if (message.matches() && message.bytes())
      std::memcpy(message.data, letters.front().data() + sizeof size, message.bytes());
    message.complete = true;
    due.emplace_back(way, bytesOf({message.count, message.type}));
    letters.pop_front();
    receives.pop_front();
  }
}

// ---- messages -------------------------------------------------------------------------------------------------------
std::shared_ptr<Posted> Mail::post(Way way, Posted message) {
  auto shared = std::make_shared<Posted>(message);
  std::vector<std::pair<Way, std::string>> words;
  {
    std::lock_guard lock(mutex);
    Ways &on = ways[way];
    shared->number = (message.sends ? on.sent : on.received)++;
    (message.sends ? on.sends : on.receives).push_back(shared);
    match(way);
    words.swap(due);
  }
  for (auto &[to, word] : words)
    send(to, Kind::Received, word);
  if (message.sends) {
    std::string letter(bytesOf({message.count, message.type}));
    if (message.bytes())
      letter.append(static_cast<const char *>(message.data), message.bytes());
    send(way, Kind::Message, letter);
  }
  return shared;
}

Result<bool> Mail::test(const Posted &message) {
  {
    std::lock_guard lock(mutex);
    if (message.complete || !end)
      return message.complete;
  }
  return abortError();
}

Result<bool> Mail::wait(const Posted &message, Deadline deadline) {
  return waitUntil([&] { return message.complete; }, deadline, false);
}

// ---- waiting --------------------------------------------------------------------------------------------------------
Result<bool> Mail::waitUntil(const std::function<bool()> &done, Deadline deadline, bool collective) {
  std::unique_lock lock(mutex);
  for (;;) {
    if (done())
      return true;
    if (end) {
      lock.unlock();
      return abortError();
    }
    auto now = std::chrono::steady_clock::now();
    if (now >= deadline)
      return false;
    bool helps = collective && progress && std::this_thread::get_id() == progressOf;
    if (helps) {
      lock.unlock();
      progress();
      lock.lock();
      if (done())
        return true;
    }
    changed.wait_until(lock, std::min(deadline, now + std::chrono::milliseconds(helps ? 1 : 50)));
  }
}

Result<std::optional<std::string>> Mail::take(Way way, Kind kind, Deadline deadline) {
  std::string letter;
  Result<bool> came = waitUntil(
      [&] {
        std::deque<std::string> &letters = boxes[{way, kind}].letters;
        if (letters.empty())
          return false;
        letter = std::move(letters.front());
        letters.pop_front();
        return true;
      },
      deadline, true);
  if (!came)
    return std::move(came.error());
  return *came ? std::optional<std::string>(std::move(letter)) : std::nullopt;
}

bool Mail::has(Way way, Kind kind) const {
  std::lock_guard lock(mutex);
  auto box = boxes.find({way, kind});
  return box != boxes.end() && !box->second.letters.empty();
}

Status Mail::waitForMessages(Deadline deadline) {
  deadline = std::min(deadline, deadlineIn(0.001));
  Result<bool> moved = waitUntil([&] { return moves != seen; }, deadline, false);
  std::lock_guard lock(mutex);
  seen = moves;
  return moved ? Status() : Status(moved.error());
}

void Mail::setProgress(std::function<bool()> function) {
  std::lock_guard lock(mutex);
  progress = std::move(function);
  progressOf = std::this_thread::get_id();
}

// ---- the end --------------------------------------------------------------------------------------------------------
void Mail::abort(int by, std::string_view message) {
  std::lock_guard lock(mutex);
  if (!end)
    end = mpi::Ended{by, std::string(message)};
  changed.notify_all();
}

std::optional<mpi::Ended> Mail::ended() const {
  std::lock_guard lock(mutex);
  return end;
}

Error Mail::abortError() const {
  std::lock_guard lock(mutex);
  if (end->rank < 0)
    return {ErrorKind::Aborted, "ended by the launcher: " + end->why, {}};
  return {ErrorKind::Aborted, fmt::format("ended by rank {}: {}", end->rank, end->why), {end->rank}};
}

void Mail::setLost(int rank) {
  std::lock_guard lock(mutex);
  gone.insert(rank);
}

std::vector<int> Mail::lost(const std::vector<int> &members) const {
  std::lock_guard lock(mutex);
  std::vector<int> result;
  for (int member : members)
    if (gone.count(member))
      result.push_back(member);
  return result;
}

} // namespace hocket::runtime::tcp
