// See StreamOrder.h.
#include "runtime/Device/Emulator/StreamOrder.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime::emulator {

void join(Clock &clock, const Clock &other) {
  if (clock.size() < other.size())
    clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

uint32_t StreamOrder::addLane() {
  lanes.emplace_back();
  return static_cast<uint32_t>(lanes.size() - 1);
}

uint32_t &StreamOrder::at(Clock &clock, uint32_t lane) {
  if (clock.size() <= lane)
    clock.resize(lane + 1);
  return clock[lane];
}

bool StreamOrder::isBefore(const Stamp &stamp, uint32_t lane) const {
  const Clock &known = lanes[lane].known;
  return stamp.clock == 0 || (stamp.lane < known.size() && stamp.clock <= known[stamp.lane]);
}

// ---- ranges ---------------------------------------------------------------------------------------------------------
// No range has bytes on both sides of the address.
void StreamOrder::splitAt(uintptr_t address) {
  auto next = ranges.lower_bound(address);
  if (next == ranges.begin())
    return;
  auto range = std::prev(next);
  if (range->second.end <= address)
    return;
  Range second = range->second;
  range->second.end = address;
  ranges.emplace_hint(next, address, std::move(second));
}

// Every byte is in a range.
void StreamOrder::fill(uintptr_t begin, uintptr_t end) {
  auto next = ranges.lower_bound(begin);
  for (uintptr_t from = begin; from < end;) {
    if (next == ranges.end() || next->first > from) {
      uintptr_t to = next == ranges.end() ? end : std::min(end, next->first);
      Range fresh;
      fresh.end = to;
      next = ranges.emplace_hint(next, from, fresh);
    }
    from = next->second.end;
    ++next;
  }
}

Status StreamOrder::touch(uint32_t lane, const Touches &touches) {
  const Clock &known = lanes[lane].known;
  Stamp stamp{lane, lane < known.size() ? known[lane] : 0, lanes[lane].mark, &*names.insert(touches.by).first};
  for (const Touch &one : touches.memory) {
    auto begin = reinterpret_cast<uintptr_t>(one.memory);
    if (!one.bytes)
      continue;
    if (Status ordered = touch(stamp, begin, begin + one.bytes, one.writes); !ordered)
      return ordered;
  }
  return {};
}

Status StreamOrder::touch(const Stamp &stamp, uintptr_t begin, uintptr_t end, bool writes) {
  splitAt(begin);
  splitAt(end);
  fill(begin, end);
  auto first = ranges.find(begin), last = ranges.lower_bound(end);
  for (auto range = first; range != last; ++range) {
    auto &[from, touched] = *range;
    if (!isBefore(touched.write, stamp.lane))
      return conflict(stamp, writes, touched.write, true, from, touched.end);
    auto mine = touched.reads.end();
    for (auto read = touched.reads.begin(); read != touched.reads.end(); ++read) {
      if (writes && !isBefore(*read, stamp.lane))
        return conflict(stamp, writes, *read, false, from, touched.end);
      if (read->lane == stamp.lane)
        mine = read;
    }
    if (!writes && mine == touched.reads.end())
      touched.reads.push_back(stamp);
    else if (!writes)
      *mine = stamp;
  }
  if (writes) { // one range, of which nothing is left but this
    ranges.erase(std::next(first), last);
    first->second = {end, stamp, {}};
  }
  return {};
}

// ---- what is told ---------------------------------------------------------------------------------------------------
void StreamOrder::addRegion(const void *begin, size_t bytes, std::string name) {
  regions[reinterpret_cast<uintptr_t>(begin)] = {bytes, std::move(name)};
}

void StreamOrder::removeRegion(const void *begin) {
  auto region = regions.find(reinterpret_cast<uintptr_t>(begin));
  if (region == regions.end())
    return;
  uintptr_t end = region->first + region->second.bytes;
  splitAt(region->first);
  splitAt(end);
  ranges.erase(ranges.lower_bound(region->first), ranges.lower_bound(end));
  regions.erase(region);
}

std::string StreamOrder::placeOf(const Mark &mark) const {
  return mark.word && markNames ? markNames(mark.word, mark.value) : "";
}

std::string StreamOrder::where(uintptr_t begin, uintptr_t end) const {
  auto after = regions.upper_bound(begin);
  if (after == regions.begin() || begin >= std::prev(after)->first + std::prev(after)->second.bytes)
    return fmt::format("{} bytes at {:#x}", end - begin, begin);
  const auto &[from, region] = *std::prev(after);
  return fmt::format("{} bytes at byte {} of \"{}\"", end - begin, begin - from, region.name);
}

Error StreamOrder::conflict(const Stamp &now, bool writes, const Stamp &other, bool otherWrites, uintptr_t begin,
                            uintptr_t end) const {
  auto verb = [](bool writing) { return writing ? "writes" : "reads"; };
  std::string here = placeOf(now.mark), there = placeOf(other.mark);
  return {ErrorKind::Invalid,
          fmt::format("{}{}{} {} {}, which {}{} {}, and no event orders the two", here, here.empty() ? "" : ": ",
                      *now.by, verb(writes), where(begin, end), *other.by, there.empty() ? "" : " (" + there + ")",
                      verb(otherWrites)),
          {}};
}

} // namespace hocket::runtime::emulator
