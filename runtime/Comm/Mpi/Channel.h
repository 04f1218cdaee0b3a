// The messages from one member to another on one communicator, at either end. Before any data move, each side sends the
// other a ticket with the count and type of its message; so both see a mismatch, and a send knows that it is being
// received. Then the data go as synchronous sends straight from memory to memory. Tickets and data go in the order in
// which messages were posted, which is how MPI matches them.
#ifndef HOCKET_RUNTIME_COMM_MPI_CHANNEL_H
#define HOCKET_RUNTIME_COMM_MPI_CHANNEL_H

#include "runtime/Comm/Mpi/Engine.h"
#include <deque>
#include <optional>

namespace hocket::runtime::mpi {

struct Ticket {
  uint64_t count;
  uint32_t type; // ElementType
  uint32_t number;
};

struct Message {
  enum Phase { Meeting, Moving, Complete, Failed };
  std::byte *data; // only read if it is sent
  Ticket mine, theirs{};
  Phase phase = Meeting;
  std::vector<MPI_Request> tickets, moving;
  std::optional<Error> error; // why it failed
  size_t bytes() const { return mine.count * sizeBytes(static_cast<ElementType>(mine.type)); }
};

class Channel : public std::enable_shared_from_this<Channel> {
public:
  // `peer`: world rank at the other end. `where`: the communicator, for errors. The engine outlives the channel.
  Channel(Engine &engine, bool sends, int peer, uint32_t communicator, std::string where);

  // Posts the next message; `data` is the message's until it is complete.
  Result<std::unique_ptr<Request>> post(void *data, size_t count, ElementType type);

  // Under the engine's mutex: moves messages on, in order; true if one has changed its phase.
  bool advance();
  bool idle() const { return open.empty(); }

private:
  friend class MpiRequest;
  bool advance(Message &message);
  Status meet(Message &message);
  std::string describe(const Message &message) const; // `message 4 from rank 0 to rank 1 on …`
  Error timeout(const Message &message) const;
  int tag(Kind kind) const { return tagBase + static_cast<int>(kind); }

  Engine &engine;
  const bool sends;
  const int peer, tagBase;
  const std::string where;
  uint32_t posted = 0;
  std::deque<std::shared_ptr<Message>> open;
};

} // namespace hocket::runtime::mpi
#endif
