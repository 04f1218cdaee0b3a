// See OutOfMemory.h. Nothing here may allocate.
#include "runtime/Executor/OutOfMemory.h"
#include "runtime/Executor/RankHost.h"
#include <atomic>
#include <unistd.h>

namespace hocket::runtime {

static constexpr int machineLacks = 4; // the exit status
static std::atomic<RankHost *> failing = nullptr;

void endWithoutMemory() {
  static constexpr std::string_view line = "error: out of memory: the system gives this rank no more\n";
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(machineLacks);
}

// Threads that come while one is at it wait for the end.
static void failRank() {
  RankHost *host = failing.exchange(nullptr);
  while (!host)
    ::pause();
  host->failWithoutMemory("out of memory: the system gives this rank no more");
  ::_exit(machineLacks);
}

OutOfMemory::OutOfMemory(RankHost &host) {
  failing = &host;
  before = std::set_new_handler(failRank);
}

OutOfMemory::~OutOfMemory() { std::set_new_handler(before); }

} // namespace hocket::runtime
