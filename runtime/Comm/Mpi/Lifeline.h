// The line of every rank to rank 0 beside MPI: a TCP connection with a thread of its own, so that it works while the
// rank computes, when MPI is stuck, and tells at once when the process at its other end is gone. Over it go statuses,
// aborts, and words of those who run the ranks. Rank 0 sends its own status to all, and everybody's to rank 1: if rank
// 0 is gone, rank 1 can say what happened.
#ifndef HOCKET_RUNTIME_COMM_MPI_LIFELINE_H
#define HOCKET_RUNTIME_COMM_MPI_LIFELINE_H

#include "runtime/Comm/Mpi/GatheredStatuses.h"
#include "runtime/Comm/Mpi/Sockets.h"
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <thread>

namespace hocket::runtime::mpi {

class Lifeline {
public:
  // Between two statuses of a rank: rank 0 reads no more than some 4000 a second, and nobody is silent for long.
  static std::chrono::milliseconds periodFor(int ranks) {
    return std::chrono::milliseconds(std::clamp(ranks / 4, 20, 250));
  }

  // Called on the line's thread.
  struct Listener {
    std::function<void(int rank)> lost;                           // its process ended, and not in order
    std::function<void(int rank, std::string_view text)> aborted; // rank -1: whoever started the run
    std::function<void(int rank, std::string_view word)> told;
    std::function<void(int rank, std::string_view letter)> mailed = {};
  };

  // The statuses and what the listener refers to outlive the line.
  Lifeline(int rank, int size, GatheredStatuses &statuses, Listener listener);
  ~Lifeline();

  // Rank 0: listens; `meeting` is for the others. Then waits until all have come.
  Status open(Meeting &meeting);
  Status waitForAll(Deadline deadline);
  // The others: connect, and wait until rank 0 has seen that.
  Status join(const Meeting &meeting, Deadline deadline);

  // Ends the run for all ranks; returns when that is on its way.
  void abort(int by, std::string_view text);
  // A word from rank 0 to all others (who = -1) or one, or from another rank to rank 0.
  void tell(std::string_view word, int who = -1);
  // To any other rank, by way of rank 0; letters from one rank to another come in order. At most half a MiB.
  void mail(int to, std::string_view letter);
  // From now on an end of this rank's line is in order, and so is that of rank 0's; returns when the others know or
  // soon.
  void sayGoodbye();
  // The same where letters may still be on their way: they arrive. Rank 0 hands on letters until all others have
  // parted, or for some seconds.
  void part(double seconds);

private:
  enum class Frame : uint32_t { Hello, Status, Abort, Lost, Word, Goodbye, Mail };
  struct Connection {
    Socket socket;
    int rank = -1; // before it has said who it is
    bool leaving = false;
    std::string in, out;
  };

  void run();
  void accept();
  void beat();
  void read(Connection &connection);
  void write(Connection &connection);
  bool take(Connection &connection, Frame kind, std::string_view payload);
  bool handOn(const Connection &connection, std::string_view payload);
  void greet(Connection &connection, std::string_view payload);
  void lose(Connection &connection);
  void send(Connection &connection, Frame kind, std::string_view payload);
  void sendAll(Frame kind, std::string_view payload, int except = -1);
  void flush(double seconds);
  void wake();

  const int rank, size;
  const std::chrono::milliseconds period;
  GatheredStatuses &statuses;
  const Listener listener;
  std::string token;
  Socket listening, waker;
  mutable std::mutex mutex; // of connections and what lies in them
  std::condition_variable changed;
  std::vector<std::unique_ptr<Connection>> connections;
  int arrived = 0; // of rank 0: ranks that have come; of the others: 1 when rank 0 has answered
  bool leaving = false;
  std::vector<std::function<void()>> calls; // of the listener, to be made without the mutex
  std::chrono::steady_clock::time_point beaten;
  std::atomic<bool> ending{false};
  std::thread thread;
};

} // namespace hocket::runtime::mpi
#endif
