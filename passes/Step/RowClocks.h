// Which rows of one stage's table have surely finished when another starts, as far as its own streams and waits say:
// what step-plan-memory may build on. (step-verify-program asks the judge's HappensBefore.)
#pragma once
#include "dialect/Step/Step.h"
#include <array>
#include <vector>

namespace hocket::step {

/// Vector clocks over the streams of one table; linear in its rows. Of rows that wait in a circle (the judge says so)
/// the first of the table waits no longer.
class RowClocks {
public:
  explicit RowClocks(TableAttr table);
  /// By index in the table.
  bool before(size_t a, size_t b) const { return clocks[b][rows[a].stream] > position[a]; }

private:
  void follow(const std::array<std::vector<size_t>, kMaxStreams> &streams);

  llvm::ArrayRef<Row> rows;
  std::vector<uint32_t> position; ///< of a row in its stream
  std::vector<std::array<uint32_t, kMaxStreams>> clocks;
};
} // namespace hocket::step
