// Which rows of one stage's table have surely finished when another starts, as far as its own streams and waits say.
#pragma once

#include "passes/Schedule/Table.h"

#include <array>
#include <span>
#include <vector>

namespace hocket::schedule {

/// Vector clocks over the streams of one table; linear in its rows. Of rows that wait in a circle (the judge says so)
/// the first of the table waits no longer.
class RowClocks {
public:
  RowClocks() = default;
  explicit RowClocks(std::span<const Row> rows); ///< which must outlive it
  /// By index in the table.
  bool before(size_t a, size_t b) const { return clocks[b][rows[a].stream] > position[a]; }

private:
  using Streams = std::array<std::vector<uint32_t>, maxStreams>; // rows of each, in order
  void follow(const Streams &streams);

  std::span<const Row> rows;
  std::vector<uint32_t> position;                       // of a row in its stream
  std::vector<std::array<uint32_t, maxStreams>> clocks; // by row: rows of each stream that have finished
};

} // namespace hocket::schedule
