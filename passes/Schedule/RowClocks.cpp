// Streams advance in turn as far as their waits allow; each row's clock is the greatest of those that it follows.
#include "passes/Schedule/RowClocks.h"

#include <algorithm>

namespace hocket::schedule {

RowClocks::RowClocks(std::span<const Row> rows) : rows(rows), position(rows.size()), clocks(rows.size()) {
  Streams streams;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    position[i] = uint32_t(streams[rows[i].stream].size());
    streams[rows[i].stream].push_back(i);
  }
  follow(streams);
}

void RowClocks::follow(const Streams &streams) {
  std::array<uint32_t, maxStreams> done{};
  auto head = [&](unsigned s) { return done[s] < streams[s].size() ? streams[s][done[s]] : rows.size(); };
  auto ready = [&](const Row &row) {
    for (unsigned t = 0; t < maxStreams; ++t)
      if (row.wait[t] > done[t])
        return false;
    return true;
  };
  auto advance = [&](unsigned s) {
    size_t at = head(s);
    auto join = [&](unsigned stream, uint32_t count) { // the first `count` rows of a stream have finished
      if (!count)
        return;
      for (unsigned t = 0; t < maxStreams; ++t)
        clocks[at][t] = std::max(clocks[at][t], clocks[streams[stream][count - 1]][t]);
      clocks[at][stream] = std::max(clocks[at][stream], count);
    };
    join(s, done[s]);
    for (unsigned t = 0; t < maxStreams; ++t)
      join(t, std::min(rows[at].wait[t], done[t]));
    ++done[s];
  };
  for (size_t stuck = 0; stuck != rows.size();) {
    for (bool moved = true; moved;) {
      moved = false;
      for (unsigned s = 0; s < maxStreams; ++s)
        for (; head(s) != rows.size() && ready(rows[head(s)]); moved = true)
          advance(s);
    }
    stuck = rows.size();
    for (unsigned s = 0; s < maxStreams; ++s)
      stuck = std::min<size_t>(stuck, head(s));
    if (stuck != rows.size())
      advance(rows[stuck].stream);
  }
}

} // namespace hocket::schedule
