// All messages of one rank, and every wait of it. Whoever posts second copies, straight from memory to memory, unless
// the other's memory is private; then its owner does, or both through the channel's bounce buffer. So a message whose
// buffers both lie in the region needs nobody's attention after it is posted; the others make progress in the waits of
// their rank.
#ifndef HOCKET_RUNTIME_COMM_SHM_MESSAGES_H
#define HOCKET_RUNTIME_COMM_SHM_MESSAGES_H

#include "runtime/Comm/Shm/Control.h"
#include "runtime/Comm/Shm/Region.h"
#include <functional>
#include <mutex>

namespace hocket::runtime::shm {

// One end of message `number` of a channel.
struct Message {
  Channel *channel;
  uint32_t number;
  bool sends;
  std::byte *data; // only read if it sends
  Side side;
  int from, to;      // world ranks
  std::string where; // the communicator, for errors
  size_t moved = 0;  // bytes that went through the bounce buffer
  bool posted = false;

  uint32_t turn() const { return number / Channel::slots; }
  Slot &slot() const { return channel->slot[number % Channel::slots]; }
  size_t bytes() const { return side.count * runtime::sizeBytes(side.type); }
  std::string describe() const; // `message 4 from rank 0 to rank 1 on …`
};

enum class Woken { Changed, TimedOut, Aborted };

class Messages {
public:
  explicit Messages(const Region &region);

  // Posts a message, or keeps it until its channel has room. The region outlives the request.
  std::unique_ptr<Request> post(Message message);
  // Waits until the word holds another value, and meanwhile does what this rank owes its messages.
  Woken waitWhile(Word &word, uint32_t value, Deadline deadline);
  // The same for a collective, with calls of the progress function as well (World::whileWaiting) in the thread that set
  // it.
  Woken waitInCollective(Word &word, uint32_t value, Deadline deadline);
  void setProgress(std::function<bool()> function) {
    progress = std::move(function);
    progressOf = std::this_thread::get_id();
  }
  // Waits until this rank's bell has rung since the last return: a peer has moved one of its messages on. May return
  // early.
  Woken waitForAny(Word &bell, Deadline deadline);
  // The error of an aborted wait.
  Error abortError() const;

private:
  friend class ShmRequest;
  enum class Progress { Waiting, Complete, Mismatched };
  Progress advance(Message &message);
  Progress match(Message &message);
  void enter(const Message &message, uint32_t turn, Slot::Phase phase);
  void finish(const Message &message);
  void wakePeer(const Message &message);
  void copyAsOwner(Message &message);
  void fillBounce(Message &message);
  void emptyBounce(Message &message);
  void serve();

  const Region &region;
  std::function<bool()> progress;
  std::thread::id progressOf;
  int spins;
  uint32_t heard = 0; // rings of the bell that waitForAny has returned for
  std::mutex mutex;
  // Messages that this rank must come back to: not posted yet, or in private memory. `owing` is their number.
  std::vector<std::shared_ptr<Message>> pending;
  std::atomic<size_t> owing{0};
};

} // namespace hocket::runtime::shm
#endif
