// TCP for the lifeline: where rank 0 listens, and how the others come to it.
#ifndef HOCKET_RUNTIME_COMM_MPI_SOCKETS_H
#define HOCKET_RUNTIME_COMM_MPI_SOCKETS_H

#include "runtime/Comm/Communicator.h"

namespace hocket::runtime::mpi {

// Closes what it holds.
class Socket {
public:
  explicit Socket(int file = -1) : file(file) {}
  Socket(Socket &&other) noexcept : file(std::exchange(other.file, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }
  ~Socket();
  int get() const { return file; }
  explicit operator bool() const { return file >= 0; }

private:
  int file;
};

// How to reach a listening rank, as plain bytes that are sent to all others.
struct Meeting {
  char token[32]; // random: who knows it belongs to this run
  char place[96]; // machine and network namespace: those who share it use the loopback interface
  uint32_t port;
  uint32_t count;
  uint32_t addresses[16]; // IPv4, network order, of every interface that is up
};

// Listens on a free port of all interfaces.
Result<Socket> listenAnywhere(Meeting &meeting);
// Tries the addresses in turn until one answers. Timeout when none does; the message has them all.
Result<Socket> connectTo(const Meeting &meeting, Deadline deadline);

} // namespace hocket::runtime::mpi
#endif
