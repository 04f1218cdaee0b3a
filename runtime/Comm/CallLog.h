// What a rank asks of its communicators, written down as it asks: one JSON object a line. For tests, and for comparing
// with what `hocket explain` announces.
//   {"call": "all_reduce", "communicator": "dp", "ranks": [0, 2], "count": 64, "type": "f32", "reduction": "sum"}
//   {"call": "send", "communicator": "pp 0->1", "ranks": [0, 4], "count": 1024, "type": "f32"}
//   {"pass": "queued", "step": 1, "waits": 12}
// "group", where there is one: calls of equal number are within one ncclGroupStart and ncclGroupEnd. The last line ends
// a pass, a training step or (with "evaluation") a batch; all calls since the one before it are its own. "graph": what
// a pass before it asked for was asked for again, by launching it as one graph. "waits": of streams for events, as the
// plan has them.
#ifndef HOCKET_RUNTIME_COMM_CALLLOG_H
#define HOCKET_RUNTIME_COMM_CALLLOG_H

#include "runtime/Comm/Communicator.h"
#include <cstdio>

namespace hocket::runtime {

class CallLog {
public:
  // Fails (Invalid) where the file cannot be written.
  static Result<std::unique_ptr<CallLog>> create(const std::string &path);
  ~CallLog();

  // The same communicator, whose calls are written down. The log outlives it.
  std::unique_ptr<Communicator> follow(std::unique_ptr<Communicator> communicator);
  Status pass(uint64_t step, uint64_t evaluation, std::string_view how, uint64_t waits = 0);
  // What is written in between is one group.
  void beginGroup() { within = ++groups; }
  void endGroup() { within = 0; }
  // A wait for an event that a test left out, and what would have waited.
  void leftOut(uint64_t wait, std::string_view where);
  void write(const Communicator &on, std::string_view call, size_t count, ElementType type,
             std::string_view reduction = "");

private:
  CallLog(std::FILE *file, std::string path) : file(file), path(std::move(path)) {}
  std::FILE *file;
  std::string path;
  uint64_t groups = 0, within = 0; // groups of this pass; the one that is open
};

} // namespace hocket::runtime
#endif
