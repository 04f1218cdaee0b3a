// Where a device is in a pass, for the watchdog and for errors: each stream writes a number into the host's memory when
// it comes to a row, to a collective, or (where the pass is queued piece by piece) to any instruction, in order with
// its work. So a report names them without asking the device, also where a pass is one graph.
#ifndef HOCKET_RUNTIME_EXECUTOR_DEVICEPROGRESS_H
#define HOCKET_RUNTIME_EXECUTOR_DEVICEPROGRESS_H

#include "runtime/Executor/RankContext.h"
#include <optional>

namespace hocket::runtime {

class DeviceProgress {
public:
  struct Place {
    uint32_t row, instruction; // RankStatus::none: of the row itself
  };

  DeviceProgress(RankContext &context, const program::Entry &entry) : context(context), entry(entry) {}
  ~DeviceProgress();
  // `streams`: the entry's, then the body streams. Memory that they write stays until this goes, so they go first.
  Status prepare(std::span<const std::unique_ptr<Stream>> streams);

  // Before anything of a pass runs.
  void beginPass();
  // Before the pieces of a pass are queued, once for a graph.
  void beginQueueing(bool everyInstruction);
  // The stream comes to a row, or to an instruction of it (taken down for collectives and awaits alone unless every
  // instruction is); leaves the row, or on a body stream the instruction.
  Status begin(size_t stream, uint32_t row, uint32_t instruction = RankStatus::none);
  Status end(size_t stream, uint32_t row);

  // Looks at all streams and puts into the rank's status where it is. Whether anything has moved since the last look.
  bool look() const;
  // Of what a stream's number in memory speaks.
  std::optional<Place> placeOf(const uint32_t *word, uint32_t value) const;
  // What the rank is at: what compute runs or awaits, else a message that is on its way.
  std::optional<Place> place() const;

private:
  struct Mark {
    Place place;
    bool running;
  };
  std::optional<Mark> markOf(size_t stream) const;
  Status mark(size_t stream, Mark mark);
  std::optional<Place> message() const;
  void publish(const Place &at) const;

  RankContext &context;
  const program::Entry &entry;
  std::span<const std::unique_ptr<Stream>> streams;
  uint32_t *words = nullptr; // by stream: 1 + its last mark; 0: none. In memory of the host that the device writes.
  mutable std::vector<uint32_t> seen;
  std::vector<Mark> marks;
  bool everyInstruction = true;
};

} // namespace hocket::runtime
#endif
