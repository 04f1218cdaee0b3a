// See Rendezvous.h.
#include "runtime/Comm/Tcp/Rendezvous.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket::runtime::tcp {

using mpi::Meeting;
using mpi::Socket;
using Clock = std::chrono::steady_clock;

namespace {
constexpr std::string_view greeting = "hocket-rank 1";

int milliseconds(Deadline deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<long>(left.count() + 1, 0, 1000));
}

// Writes all of a short text; the other end may be gone.
void write(const Socket &socket, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) {
      pollfd file{socket.get(), POLLOUT, 0};
      if (::poll(&file, 1, 1000) <= 0)
        return;
      continue;
    }
    if (count <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// Appends what has come; false at the end.
bool read(const Socket &socket, std::string &to) {
  char buffer[4096];
  for (;;) {
    ssize_t count = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0)
      to.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      return false;
    else if (errno == EAGAIN)
      return true;
  }
}

std::string hostName() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Rank 0's side.
class Gathering {
public:
  Gathering(const Place &place, const Socket &listening) : place(place), listening(listening) {}
  Status run(const Meeting &meeting, double seconds);

private:
  struct Guest {
    Socket socket;
    std::string in;
    int rank = -1; // before it has said who it is
    std::string who;
  };
  void look(Deadline until);
  void accept();
  void greet(Guest &guest);
  void lose(const Guest &guest);
  bool complete() const { return here() == place.size - 1; }
  int here() const {
    return static_cast<int>(std::count_if(guests.begin(), guests.end(), [](auto &guest) { return guest.rank > 0; }));
  }
  std::vector<int> missing() const;
  void tellAll(std::string_view text);

  const Place &place;
  const Socket &listening;
  std::vector<Guest> guests;
  std::vector<std::string> faults;
  std::vector<int> ended;
};

Status Gathering::run(const Meeting &meeting, double seconds) {
  Deadline deadline = deadlineIn(seconds);
  while (!complete() && faults.empty() && ended.empty() && Clock::now() < deadline)
    look(deadline);
  if (complete() && faults.empty()) {
    tellAll(std::string("yes\n").append(reinterpret_cast<const char *>(&meeting), sizeof meeting));
    return {};
  }
  if (!faults.empty() || !ended.empty()) // others may be wrong in the same way
    for (Deadline until = deadlineIn(0.3); Clock::now() < until;)
      look(until);
  Error error{ErrorKind::Invalid, fmt::format("{}", fmt::join(faults, "; ")), {}};
  if (faults.empty() && !ended.empty())
    error = {ErrorKind::Timeout,
             fmt::format("rank{} {} ended while the others were waited for", ended.size() == 1 ? "" : "s",
                         fmt::join(ended, ", ")),
             ended};
  else if (faults.empty())
    error = {ErrorKind::Timeout,
             fmt::format("rank{} {} of {} did not come to {}:{} within {} s", missing().size() == 1 ? "" : "s",
                         fmt::join(missing(), ", "), place.size, place.host, place.port, seconds),
             missing()};
  tellAll(fmt::format("no {} {}\n", static_cast<int>(error.kind), error.message));
  return error;
}

void Gathering::look(Deadline until) {
  std::vector<pollfd> files{{listening.get(), POLLIN, 0}};
  for (const Guest &guest : guests)
    files.push_back({guest.socket.get(), POLLIN, 0});
  ::poll(files.data(), files.size(), milliseconds(until));
  for (size_t i = 0; i < guests.size(); ++i) {
    Guest &guest = guests[i];
    if (!files[i + 1].revents)
      continue;
    bool open = read(guest.socket, guest.in);
    if (guest.rank < 0 && guest.in.find('\n') != std::string::npos)
      greet(guest);
    if (!open || guest.in.size() > 4096)
      lose(guest), guest.socket = Socket();
  }
  std::erase_if(guests, [](const Guest &guest) { return !guest.socket; });
  if (files[0].revents)
    accept();
}

void Gathering::accept() {
  for (;;) {
    Socket made(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made)
      return;
    guests.emplace_back().socket = std::move(made);
  }
}

// Strangers, and ranks of another job, are sent away; nothing of this run is wrong with them.
void Gathering::greet(Guest &guest) {
  std::istringstream words(guest.in);
  std::string name, version, job, host;
  int rank = -1, size = 0, pid = 0;
  words >> name >> version >> rank >> size >> job >> host >> pid;
  if (!words || name + " " + version != greeting || job != place.job) {
    write(guest.socket,
          fmt::format("no {} rank 0 at this port belongs to another run\n", static_cast<int>(ErrorKind::Invalid)));
    guest.socket = Socket();
    return;
  }
  guest.who = fmt::format("process {} on host {}", pid, host);
  guest.rank = rank;
  if (size != place.size)
    faults.push_back(fmt::format("rank {} ({}) was started as one of {} ranks, rank 0 as one of {}", rank, guest.who,
                                 size, place.size));
  else if (rank < 1 || rank >= size)
    faults.push_back(fmt::format("{} says it is rank {}; rank 0 waits for ranks 1 to {}", guest.who, rank, size - 1));
  for (const Guest &other : guests)
    if (&other != &guest && other.rank == rank)
      faults.push_back(fmt::format("rank {} came twice: {} and {}", rank, other.who, guest.who));
}

void Gathering::lose(const Guest &guest) {
  if (guest.rank > 0)
    ended.push_back(guest.rank);
}

std::vector<int> Gathering::missing() const {
  std::vector<int> result;
  for (int rank = 1; rank < place.size; ++rank)
    if (std::none_of(guests.begin(), guests.end(), [&](const Guest &guest) { return guest.rank == rank; }))
      result.push_back(rank);
  return result;
}

void Gathering::tellAll(std::string_view text) {
  for (const Guest &guest : guests)
    if (guest.rank > 0)
      write(guest.socket, text);
}

// ---- the others -----------------------------------------------------------------------------------------------------
// A connection to rank 0, or why there is none.
Result<Socket> attempt(const Place &place) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (int code = ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found))
    return Error{ErrorKind::Lacking, ::gai_strerror(code), {}};
  std::string why = "no address";
  for (addrinfo *at = found; at; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    timeval limit{5, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); // of connect too
    if (socket && ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) {
      ::freeaddrinfo(found);
      return socket;
    }
    why = std::strerror(errno);
  }
  ::freeaddrinfo(found);
  return Error{ErrorKind::Lacking, why, {}};
}

// The answer, once there is all of it.
std::optional<Result<Meeting>> answerOf(const std::string &in) {
  Meeting meeting;
  if (in.starts_with("yes\n") && in.size() >= 4 + sizeof meeting) {
    std::memcpy(&meeting, in.data() + 4, sizeof meeting);
    return meeting;
  }
  if (in.starts_with("no ") && in.ends_with('\n') && in.size() > 5)
    return Error{static_cast<ErrorKind>(std::clamp(in[3] - '0', 0, 4)), in.substr(5, in.size() - 6), {}};
  return {};
}
} // namespace

Result<Socket> listenAt(const Place &place) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(place.port));
  if (socket && ::bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) == 0 &&
      ::listen(socket.get(), SOMAXCONN) == 0)
    return socket;
  return Error{ErrorKind::Lacking,
               fmt::format("rank 0 cannot listen at port {}: {}; MASTER_PORT or HOCKET_PORT names another", place.port,
                           std::strerror(errno)),
               {}};
}

Status gather(const Place &place, const Socket &listening, const Meeting &meeting, double seconds) {
  return Gathering(place, listening).run(meeting, seconds);
}

Result<Meeting> report(const Place &place, double seconds) {
  Deadline deadline = deadlineIn(seconds);
  std::string hello =
      fmt::format("{} {} {} {} {} {}\n", greeting, place.rank, place.size, place.job, hostName(), ::getpid());
  std::string why;
  while (Clock::now() < deadline) {
    Result<Socket> socket = attempt(place);
    if (!socket) { // rank 0 may not have begun yet
      why = socket.error().message;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    write(*socket, hello);
    std::string in;
    for (bool open = true; open && Clock::now() < deadline + std::chrono::seconds(5);) { // rank 0 says who is missing
      pollfd file{socket->get(), POLLIN, 0};
      ::poll(&file, 1, 200);
      open = read(*socket, in);
      if (std::optional<Result<Meeting>> answer = answerOf(in))
        return std::move(*answer);
    }
    why = "it ended the connection";
  }
  return Error{ErrorKind::Timeout,
               fmt::format("rank {}: rank 0 does not answer at {}:{} within {} s: {}", place.rank, place.host,
                           place.port, seconds, why),
               {0}};
}

} // namespace hocket::runtime::tcp
