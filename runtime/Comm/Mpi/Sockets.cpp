// See Sockets.h.
#include "runtime/Comm/Mpi/Sockets.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket::runtime::mpi {

Socket::~Socket() {
  if (file >= 0)
    ::close(file);
}

static Error lacking(std::string_view what) {
  return {ErrorKind::Lacking, fmt::format("cannot {}: {}", what, std::strerror(errno)), {}};
}

// Two processes with the same place reach each other over the loopback interface.
static std::string placeHere() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = {};
  if (::readlink("/proc/self/ns/net", space, sizeof space - 1) < 0)
    space[0] = 0;
  return boot + space;
}

static void listAddresses(Meeting &meeting) {
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return;
  for (ifaddrs *at = all; at && meeting.count < std::size(meeting.addresses); at = at->ifa_next)
    if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET && (at->ifa_flags & IFF_UP) &&
        !(at->ifa_flags & IFF_LOOPBACK))
      meeting.addresses[meeting.count++] = reinterpret_cast<sockaddr_in *>(at->ifa_addr)->sin_addr.s_addr;
  ::freeifaddrs(all);
}

Result<Socket> listenAnywhere(Meeting &meeting) {
  meeting = {};
  if (::getrandom(meeting.token, sizeof meeting.token, 0) != sizeof meeting.token)
    return lacking("draw random bytes");
  std::string place = placeHere();
  std::memcpy(meeting.place, place.data(), std::min(place.size(), sizeof meeting.place));
  listAddresses(meeting);
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  auto *plain = reinterpret_cast<sockaddr *>(&address);
  if (!socket || ::bind(socket.get(), plain, length) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), plain, &length) != 0)
    return lacking("listen for the other ranks");
  meeting.port = ntohs(address.sin_port);
  return socket;
}

// One attempt.
static Socket attempt(uint32_t host, uint32_t port, Deadline deadline) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket)
    return socket;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = host;
  int done = ::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address);
  if (done != 0 && errno == EINPROGRESS) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd file{socket.get(), POLLOUT, 0};
    ::poll(&file, 1, static_cast<int>(std::clamp<long>(left.count(), 0, 2000)));
    int error = 0;
    socklen_t length = sizeof error;
    if (!(file.revents & POLLOUT) || ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error)
      return Socket();
  } else if (done != 0) {
    return Socket();
  }
  int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

Result<Socket> connectTo(const Meeting &meeting, Deadline deadline) {
  std::vector<uint32_t> hosts(meeting.addresses,
                              meeting.addresses + std::min<size_t>(meeting.count, std::size(meeting.addresses)));
  if (placeHere() == std::string(meeting.place, strnlen(meeting.place, sizeof meeting.place)))
    hosts = {htonl(INADDR_LOOPBACK)};
  for (;;) {
    for (uint32_t host : hosts)
      if (Socket socket = attempt(host, meeting.port, deadline))
        return socket;
    if (std::chrono::steady_clock::now() >= deadline)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::string tried;
  for (uint32_t host : hosts) {
    char text[INET_ADDRSTRLEN] = {};
    in_addr address{host};
    ::inet_ntop(AF_INET, &address, text, sizeof text);
    tried += fmt::format("{}{}:{}", tried.empty() ? "" : ", ", text, meeting.port);
  }
  return Error{
      ErrorKind::Timeout,
      fmt::format("rank 0 cannot be reached over TCP; tried {}", tried.empty() ? "no address: it has none" : tried),
      {0}};
}

} // namespace hocket::runtime::mpi
