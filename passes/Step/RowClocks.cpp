// Streams advance in turn as far as their waits allow; each row's clock is the greatest of those that it follows.
#include "passes/Step/RowClocks.h"
using namespace hocket::step;

RowClocks::RowClocks(TableAttr table) : rows(table.getRows()), position(rows.size()), clocks(rows.size()) {
  std::array<std::vector<size_t>, kMaxStreams> streams;
  for (size_t i = 0; i < rows.size(); ++i) {
    position[i] = streams[rows[i].stream].size();
    streams[rows[i].stream].push_back(i);
  }
  follow(streams);
}

void RowClocks::follow(const std::array<std::vector<size_t>, kMaxStreams> &streams) {
  std::array<uint32_t, kMaxStreams> done{};
  auto ready = [&](const Row &row) {
    for (int t = 0; t < kMaxStreams; ++t)
      if (row.wait[t] > done[t])
        return false;
    return true;
  };
  auto advance = [&](int s) {
    size_t at = streams[s][done[s]];
    auto join = [&](int stream, uint32_t count) { // the first `count` rows of a stream have finished
      if (!count)
        return;
      for (int t = 0; t < kMaxStreams; ++t)
        clocks[at][t] = std::max(clocks[at][t], clocks[streams[stream][count - 1]][t]);
      clocks[at][stream] = std::max(clocks[at][stream], count);
    };
    join(s, done[s]);
    for (int t = 0; t < kMaxStreams; ++t)
      join(t, std::min(rows[at].wait[t], done[t]));
    ++done[s];
  };
  for (size_t stuck = 0; stuck != rows.size();) {
    for (bool moved = true; moved;) {
      moved = false;
      for (int s = 0; s < kMaxStreams; ++s)
        for (; done[s] < streams[s].size() && ready(rows[streams[s][done[s]]]); moved = true)
          advance(s);
    }
    stuck = rows.size();
    for (int s = 0; s < kMaxStreams; ++s)
      if (done[s] < streams[s].size())
        stuck = std::min(stuck, streams[s][done[s]]);
    if (stuck != rows.size())
      advance(rows[stuck].stream);
  }
}
