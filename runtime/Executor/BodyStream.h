// A stream of a body beside the one that computes: a thread that runs what is queued on it, in order. Every rank has
// one for each of its program's body streams, for as long as it steps; the thread sleeps while there is nothing to do.
// Called from one thread, that of stream 0.
#ifndef HOCKET_RUNTIME_EXECUTOR_BODYSTREAM_H
#define HOCKET_RUNTIME_EXECUTOR_BODYSTREAM_H

#include "runtime/Executor/Trace.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace hocket::runtime {

class BodyStream {
public:
  BodyStream();
  // Waits for what runs; what has not begun is dropped.
  ~BodyStream();

  // Queues the next piece of work of this body. After a failure nothing more is run.
  void start(uint32_t instruction, std::function<Status()> work);
  // A new body begins: counts start at 0. Everything must have finished.
  void beginBody();

  enum class State { Finished, Waiting, Failed };
  // Whether the first `count` pieces of this body have finished; waits up to `most` for it.
  State finished(uint32_t count, std::chrono::microseconds most);
  // Why, after Failed.
  Error error();
  // The instruction that runs, or would be next; nothing where all is done.
  std::optional<uint32_t> current();
  // Whether anything is queued or runs.
  bool busy();

  // When the pieces of this body that have finished ran, in order.
  struct Ran {
    uint32_t instruction;
    Trace::Time begin, end;
  };
  std::vector<Ran> take();

private:
  struct Job {
    uint32_t instruction;
    std::function<Status()> work;
  };
  void run();

  std::mutex mutex;
  std::condition_variable queued, done;
  std::deque<Job> jobs; // the first one runs
  uint32_t finishedJobs = 0;
  bool closing = false;
  std::optional<Error> failure;
  std::vector<Ran> ran;
  std::thread thread; // last: it uses all of the above
};

} // namespace hocket::runtime
#endif
