// See Lifeline.h. A frame is its kind, its length (both uint32_t) and that many bytes; all hosts are of one byte order.
#include "runtime/Comm/Mpi/Lifeline.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket::runtime::mpi {

static constexpr size_t mostFrameBytes = 1 << 20, mostQueuedBytes = 4 << 20;

Lifeline::Lifeline(int rank, int size, GatheredStatuses &statuses, Listener listener)
    : rank(rank), size(size), period(periodFor(size)), statuses(statuses), listener(std::move(listener)),
      waker(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Lifeline::~Lifeline() {
  ending = true;
  wake();
  if (thread.joinable())
    thread.join();
}

Status Lifeline::open(Meeting &meeting) {
  Result<Socket> made = listenAnywhere(meeting);
  if (!made)
    return std::move(made.error());
  listening = std::move(*made);
  token.assign(meeting.token, sizeof meeting.token);
  thread = std::thread([this] { run(); });
  return {};
}

Status Lifeline::waitForAll(Deadline deadline) {
  std::unique_lock lock(mutex);
  if (changed.wait_until(lock, deadline, [this] { return arrived == size - 1; }))
    return {};
  std::vector<int> missing;
  for (int r = 1; r < size; ++r) {
    bool here = false;
    for (const auto &connection : connections)
      here |= connection->rank == r;
    if (!here)
      missing.push_back(r);
  }
  return Error{ErrorKind::Timeout, fmt::format("ranks did not connect to rank 0: {}", fmt::join(missing, ", ")),
               missing};
}

Status Lifeline::join(const Meeting &meeting, Deadline deadline) {
  Result<Socket> made = connectTo(meeting, deadline);
  if (!made)
    return std::move(made.error());
  auto connection = std::make_unique<Connection>();
  connection->socket = std::move(*made);
  connection->rank = 0;
  std::string hello(reinterpret_cast<const char *>(&rank), sizeof rank);
  send(*connection, Frame::Hello, hello.append(meeting.token, sizeof meeting.token));
  connections.push_back(std::move(connection));
  thread = std::thread([this] { run(); });
  std::unique_lock lock(mutex);
  if (changed.wait_until(lock, deadline, [this] { return arrived == 1; }))
    return {};
  return Error{ErrorKind::Timeout, "rank 0 does not answer over TCP", {0}};
}

// ---- from any thread ------------------------------------------------------------------------------------------------
void Lifeline::abort(int by, std::string_view text) {
  std::string payload(reinterpret_cast<const char *>(&by), sizeof by);
  {
    std::lock_guard lock(mutex);
    sendAll(Frame::Abort, payload.append(text.substr(0, mostFrameBytes / 2)));
  }
  flush(1);
}

void Lifeline::tell(std::string_view word, int who) {
  std::lock_guard lock(mutex);
  for (auto &connection : connections)
    if (connection->rank >= 0 && (who < 0 || connection->rank == who))
      send(*connection, Frame::Word, word);
  wake();
}

// The frame says to whom and from whom.
void Lifeline::mail(int to, std::string_view letter) {
  int who[2] = {to, rank};
  std::string payload(reinterpret_cast<const char *>(who), sizeof who);
  payload.append(letter);
  std::lock_guard lock(mutex);
  for (auto &connection : connections)
    if (connection->rank == (rank == 0 ? to : 0))
      send(*connection, Frame::Mail, payload);
  wake();
}

void Lifeline::sayGoodbye() {
  {
    std::lock_guard lock(mutex);
    leaving = true;
    sendAll(Frame::Goodbye, {});
  }
  flush(1);
}

// A socket that is closed with something unread takes back what it has sent: so the others end their half first.
void Lifeline::part(double seconds) {
  sayGoodbye();
  std::unique_lock lock(mutex);
  for (auto &connection : connections)
    if (rank != 0)
      ::shutdown(connection->socket.get(), SHUT_WR);
  wake();
  changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return connections.empty(); });
}

// Wakes the thread and waits until it has written everything, or for `seconds`.
void Lifeline::flush(double seconds) {
  wake();
  if (std::this_thread::get_id() == thread.get_id())
    return;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] {
    for (const auto &connection : connections)
      if (!connection->out.empty())
        return false;
    return true;
  });
}

void Lifeline::wake() {
  uint64_t one = 1;
  if (::write(waker.get(), &one, sizeof one) < 0)
    return; // it is awake
}

void Lifeline::send(Connection &connection, Frame kind, std::string_view payload) {
  if (kind == Frame::Status && connection.out.size() > mostQueuedBytes)
    return; // nobody reads; the next status says more than this one
  uint32_t head[2] = {static_cast<uint32_t>(kind), static_cast<uint32_t>(payload.size())};
  connection.out.append(reinterpret_cast<const char *>(head), sizeof head).append(payload);
}

void Lifeline::sendAll(Frame kind, std::string_view payload, int except) {
  for (auto &connection : connections)
    if (connection->rank >= 0 && connection->rank != except)
      send(*connection, kind, payload);
}

// ---- the thread -----------------------------------------------------------------------------------------------------
void Lifeline::run() {
  while (!ending) {
    std::vector<pollfd> files{{waker.get(), POLLIN, 0}, {listening.get(), POLLIN, 0}};
    std::vector<Connection *> polled;
    std::vector<std::function<void()>> due;
    {
      std::lock_guard lock(mutex);
      if (std::chrono::steady_clock::now() - beaten >= period)
        beat();
      for (auto &connection : connections) {
        write(*connection);
        if (!connection->socket)
          continue;
        files.push_back({connection->socket.get(), short(connection->out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
        polled.push_back(connection.get());
      }
    }
    changed.notify_all();
    ::poll(files.data(), files.size(), static_cast<int>(period.count()));
    uint64_t count;
    while (::read(waker.get(), &count, sizeof count) > 0) {
    }
    {
      std::lock_guard lock(mutex);
      if (files[1].revents)
        accept();
      for (size_t i = 0; i < polled.size(); ++i)
        if (files[i + 2].revents & ~POLLOUT)
          read(*polled[i]);
      due.swap(calls);
      std::erase_if(connections, [](const auto &connection) { return !connection->socket; });
    }
    changed.notify_all();
    for (auto &call : due)
      call();
  }
}

void Lifeline::accept() {
  for (;;) {
    Socket made(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made)
      return;
    int yes = 1;
    ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    connections.push_back(std::make_unique<Connection>());
    connections.back()->socket = std::move(made);
  }
}

void Lifeline::beat() {
  beaten = std::chrono::steady_clock::now();
  std::string mine = statuses.record(rank);
  for (auto &connection : connections) {
    if (connection->rank < 0)
      continue;
    send(*connection, Frame::Status, mine);
    if (connection->rank != 1)
      continue;
    for (auto &other : connections)
      if (other->rank > 1)
        send(*connection, Frame::Status, statuses.record(other->rank));
  }
}

void Lifeline::write(Connection &connection) {
  while (connection.socket && !connection.out.empty()) {
    ssize_t count = ::send(connection.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      lose(connection);
    if (count <= 0)
      return;
    connection.out.erase(0, static_cast<size_t>(count));
  }
}

void Lifeline::read(Connection &connection) {
  char buffer[16384];
  bool end = false;
  for (;;) {
    ssize_t count = ::recv(connection.socket.get(), buffer, sizeof buffer, 0);
    if (count > 0)
      connection.in.append(buffer, static_cast<size_t>(count));
    else if (count < 0 && errno == EINTR)
      continue;
    else {
      end = count == 0 || errno != EAGAIN;
      break;
    }
  }
  size_t at = 0;
  uint32_t head[2];
  while (connection.socket && connection.in.size() - at >= sizeof head) {
    std::memcpy(head, connection.in.data() + at, sizeof head);
    if (head[1] > mostFrameBytes || (connection.rank < 0 && head[1] > sizeof(int) + token.size()))
      return lose(connection); // a stranger
    if (connection.in.size() - at - sizeof head < head[1])
      break;
    std::string_view payload(connection.in.data() + at + sizeof head, head[1]);
    if (!take(connection, static_cast<Frame>(head[0]), payload))
      return lose(connection);
    at += sizeof head + head[1];
  }
  connection.in.erase(0, at);
  if (end && connection.socket)
    lose(connection);
}

// False for what no rank sends.
bool Lifeline::take(Connection &connection, Frame kind, std::string_view payload) {
  int who = -1;
  if (kind != Frame::Hello && connection.rank < 0)
    return false;
  if (kind == Frame::Hello || kind == Frame::Abort || kind == Frame::Lost) {
    if (payload.size() < sizeof who)
      return false;
    std::memcpy(&who, payload.data(), sizeof who);
  }
  switch (kind) {
  case Frame::Hello:
    greet(connection, payload);
    return connection.rank >= 0;
  case Frame::Status:
    arrived += rank != 0 && arrived == 0; // rank 0 has greeted this one
    return statuses.store(payload);
  case Frame::Abort:
    if (rank == 0)
      sendAll(Frame::Abort, payload, connection.rank);
    calls.push_back([this, who, text = std::string(payload.substr(sizeof who))] { listener.aborted(who, text); });
    return true;
  case Frame::Lost:
    calls.push_back([this, who] { listener.lost(who); });
    return true;
  case Frame::Word:
    calls.push_back([this, from = connection.rank, word = std::string(payload)] { listener.told(from, word); });
    return true;
  case Frame::Goodbye:
    connection.leaving = true;
    return true;
  case Frame::Mail:
    return handOn(connection, payload);
  }
  return false;
}

bool Lifeline::handOn(const Connection &connection, std::string_view payload) {
  int who[2];
  if (payload.size() < sizeof who)
    return false;
  std::memcpy(who, payload.data(), sizeof who);
  if (who[0] == rank) {
    calls.push_back([this, from = who[1], letter = std::string(payload.substr(sizeof who))] {
      if (listener.mailed)
        listener.mailed(from, letter);
    });
    return true;
  }
  if (rank != 0 || who[1] != connection.rank)
    return false;
  for (auto &other : connections)
    if (other->rank == who[0])
      send(*other, Frame::Mail, payload);
  return true;
}

void Lifeline::greet(Connection &connection, std::string_view payload) {
  int who;
  std::memcpy(&who, payload.data(), sizeof who);
  if (connection.rank >= 0 || who < 1 || who >= size || payload.substr(sizeof who) != token)
    return;
  for (const auto &other : connections)
    if (other->rank == who)
      return;
  connection.rank = who;
  ++arrived;
  send(connection, Frame::Status, statuses.record(rank));
}

void Lifeline::lose(Connection &connection) {
  connection.socket = Socket();
  connection.out.clear();
  int gone = connection.rank;
  if (gone < 0 || connection.leaving || leaving)
    return;
  if (rank == 0)
    sendAll(Frame::Lost, {reinterpret_cast<const char *>(&gone), sizeof gone}, gone);
  calls.push_back([this, gone] { listener.lost(gone); });
}

} // namespace hocket::runtime::mpi
