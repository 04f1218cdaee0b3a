// Which piece of queued work touched which byte last, and whether streams and events put it before the one that touches
// it now: a missing event is found whichever order the seed drew, and whether or not a result is wrong.
//
// As in the checker of threads (Checker.h) by the clocks of FastTrack, with lanes for its threads: a lane is a stream,
// or a stream of a graph. A piece of work ticks its lane's clock; an event carries what the recording lane knows to the
// lanes that wait for it; a host that waited (synchronize, a complete event) knows it, and all that it queues later is
// after. Of reads the last of each lane is kept, so nothing hides. What other ranks do orders nothing here: a
// plan states every order by its own events.
//
// Clocks and stamps are kept for ranges of bytes that were touched alike; the cost of a touch goes with their number.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_STREAMORDER_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_STREAMORDER_H

#include "runtime/Device/Device.h"
#include <map>
#include <set>

namespace hocket::runtime::emulator {

// How far each lane has come, as far as somebody knows; lanes behind the end: 0.
using Clock = std::vector<uint32_t>;
void join(Clock &clock, const Clock &other);

class StreamOrder {
public:
  // The number of a new lane. What it does is after what the host knows.
  uint32_t addLane();
  const Clock &known(uint32_t lane) const { return lanes[lane].known; }
  // What the lane does from now on is after what `other` knows.
  void after(uint32_t lane, const Clock &other) { join(lanes[lane].known, other); }
  void begin(uint32_t lane) { ++at(lanes[lane].known, lane); } // a piece of work
  // What the lane's work is called from now on.
  void mark(uint32_t lane, const uint32_t *word, uint32_t value) { lanes[lane].mark = {word, value}; }
  void nameMarks(Device::MarkNames names) { markNames = std::move(names); }

  // Names of memory for reports.
  void addRegion(const void *begin, size_t bytes, std::string name);
  void removeRegion(const void *begin); // what was done there is forgotten

  // The piece that the lane has begun touches memory. Invalid where another piece that is not before it touched the
  // same byte and one of the two writes, with both.
  Status touch(uint32_t lane, const Touches &touches);

private:
  struct Mark {
    const uint32_t *word = nullptr;
    uint32_t value = 0;
  };
  struct Lane {
    Clock known;
    Mark mark;
  };
  // A piece of work; clock 0: none.
  struct Stamp {
    uint32_t lane = 0, clock = 0;
    Mark mark;
    const std::string *by = nullptr;
  };
  struct Range {
    uintptr_t end = 0;
    Stamp write;
    std::vector<Stamp> reads; // since, one a lane
  };
  struct Region {
    size_t bytes;
    std::string name;
  };
  using Ranges = std::map<uintptr_t, Range>; // by first byte; they do not overlap

  static uint32_t &at(Clock &clock, uint32_t lane);
  bool isBefore(const Stamp &stamp, uint32_t lane) const;
  void splitAt(uintptr_t address);
  void fill(uintptr_t begin, uintptr_t end);
  Status touch(const Stamp &stamp, uintptr_t begin, uintptr_t end, bool writes);
  Error conflict(const Stamp &now, bool writes, const Stamp &other, bool otherWrites, uintptr_t begin,
                 uintptr_t end) const;
  std::string placeOf(const Mark &mark) const;
  std::string where(uintptr_t begin, uintptr_t end) const;

  std::vector<Lane> lanes;
  Ranges ranges;
  std::map<uintptr_t, Region> regions;
  std::set<std::string> names; // of pieces
  Device::MarkNames markNames;
};

} // namespace hocket::runtime::emulator
#endif
