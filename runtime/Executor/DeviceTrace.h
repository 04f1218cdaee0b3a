// When a device did what, from events that know their time. Off (and free) unless the rank is traced.
#ifndef HOCKET_RUNTIME_EXECUTOR_DEVICETRACE_H
#define HOCKET_RUNTIME_EXECUTOR_DEVICETRACE_H

#include "runtime/Executor/RankContext.h"

namespace hocket::runtime {

class DeviceTrace {
public:
  DeviceTrace(RankContext &context, const program::Entry &entry) : context(context), entry(entry) {}

  // The time from which all others are counted; nothing is queued yet, so it is about that of the host.
  Status origin(Stream &stream);
  // The next piece on a stream: an instruction of a row, or a message (RankStatus::none). `lane`: the trace's thread.
  Status begin(Stream &stream, uint32_t lane, uint32_t row, uint32_t instruction);
  // The piece that was begun last is queued.
  Status end(Stream &stream);
  // Everything is done: adds the pass to the rank's trace.
  Status collect(uint64_t step, uint64_t evaluation);

private:
  struct Piece {
    uint32_t lane, row, instruction;
    std::unique_ptr<Event> begin, end;
  };
  Status record(Stream &stream, std::unique_ptr<Event> &event);

  RankContext &context;
  const program::Entry &entry;
  std::unique_ptr<Event> first;
  Trace::Time firstTime;
  std::vector<Piece> pieces;
};

} // namespace hocket::runtime
#endif
