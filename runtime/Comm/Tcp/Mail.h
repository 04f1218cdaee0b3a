// What ranks say to each other over the lifeline: everything passes rank 0, which hands it on. For what is small and
// seldom (unique ids, votes, statuses, the numbers of a step); correct for anything, but rank 0's memory and line hold
// all of it.
#ifndef HOCKET_RUNTIME_COMM_TCP_MAIL_H
#define HOCKET_RUNTIME_COMM_TCP_MAIL_H

#include "runtime/Comm/Mpi/Ended.h"
#include "runtime/Comm/Mpi/Lifeline.h"
#include <deque>
#include <map>
#include <set>

namespace hocket::runtime::tcp {

// Ask and Answer of collectives; a message and the word that it was received.
enum class Kind : uint32_t { Ask, Answer, Message, Received };

// One end of a message between two members.
struct Posted {
  void *data; // only read if it sends
  size_t count;
  ElementType type;
  bool sends;
  uint32_t number = 0; // on its way from this rank to that one
  bool complete = false;
  size_t otherCount = 0; // what the other end said, once complete
  ElementType otherType = ElementType::F32;

  size_t bytes() const { return count * sizeBytes(type); }
  bool matches() const { return otherCount == count && otherType == type; }
};

class Mail {
public:
  // A way to another rank, on one communicator.
  struct Way {
    uint32_t group;
    int peer; // world rank
    auto operator<=>(const Way &) const = default;
  };

  explicit Mail(int rank) : rank(rank) {}
  void over(mpi::Lifeline *line) { this->line = line; }

  void send(Way way, Kind kind, std::string_view body);
  // On the line's thread.
  void arrived(int from, std::string_view frame);

  // The next letter of that kind. Nothing when the deadline passes; Aborted when the run has ended. In a collective the
  // rank's progress function is called meanwhile, in the thread that set it.
  Result<std::optional<std::string>> take(Way way, Kind kind, Deadline deadline);
  // Whether one has come.
  bool has(Way way, Kind kind) const;
  // Messages: in the order in which they are posted on a way.
  std::shared_ptr<Posted> post(Way way, Posted message);
  // Whether it is complete; Aborted as above.
  Result<bool> test(const Posted &message);
  Result<bool> wait(const Posted &message, Deadline deadline);

  Status waitForMessages(Deadline deadline);
  void setProgress(std::function<bool()> function);

  void abort(int by, std::string_view message);
  std::optional<mpi::Ended> ended() const;
  Error abortError() const;
  void setLost(int rank);
  // Those of the members that are gone.
  std::vector<int> lost(const std::vector<int> &members) const;

private:
  struct Box {
    std::deque<std::string> letters;
    std::string partial; // of a letter that has not come as a whole
  };
  struct Ways {
    std::deque<std::shared_ptr<Posted>> sends, receives; // open
    uint32_t sent = 0, received = 0;
  };
  void deliver(Way way, Kind kind, std::string letter);
  void match(Way way);
  Result<bool> waitUntil(const std::function<bool()> &done, Deadline deadline, bool collective);

  const int rank;
  mpi::Lifeline *line = nullptr;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<Way, Kind>, Box> boxes;
  std::map<Way, Ways> ways;
  std::vector<std::pair<Way, std::string>> due; // words to be sent without the mutex
  uint64_t moves = 0, seen = 0;
  std::function<bool()> progress;
  std::thread::id progressOf;
  std::optional<mpi::Ended> end;
  std::set<int> gone;
};

} // namespace hocket::runtime::tcp
#endif
