// What one rank did when, as Chrome trace events (chrome://tracing, Perfetto): process = rank, thread = stream. Streams
// of bodies are the threads from firstBodyStream on, whatever the entry's streams are.
// Grows with every event: for runs of few steps.
#ifndef HOCKET_RUNTIME_EXECUTOR_TRACE_H
#define HOCKET_RUNTIME_EXECUTOR_TRACE_H

#include "runtime/Program/Result.h"
#include <chrono>
#include <cstdint>
#include <vector>

namespace hocket::runtime {

class Trace {
public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr uint8_t firstBodyStream = 8;
  static Time now() { return std::chrono::steady_clock::now(); }

  struct Event {
    std::string_view name; // lies in the program
    uint8_t stream;
    uint32_t microbatch;
    uint64_t step;
    Time begin, end;
    double processorMicroseconds = 0; // of the rank's main thread
  };
  // What the calling thread has had of a processor so far, in microseconds.
  static double processorMicroseconds();
  void add(const Event &event) { events.push_back(event); }

  // Writes the events of this rank as lines of JSON, one event a line, each followed by a comma; before them names, and
  // the machine: its name and number of processors.
  Status write(const std::string &path, int rank, const std::string &coordinates,
               const std::vector<std::string> &streams, const std::vector<std::string> &bodyStreams = {}) const;
  // Makes one trace file out of those of all ranks, and removes them.
  static Status merge(const std::string &path, const std::vector<std::string> &parts);

private:
  std::vector<Event> events;
};

} // namespace hocket::runtime
#endif
