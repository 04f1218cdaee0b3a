// What is wrong with a problem, a table or its text: one sentence and a note at every other party. Plain values, so
// that a command prints them and a pass turns them into diagnostics with notes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::schedule {

struct Fault {
  std::string text;
  std::vector<std::string> notes;
  /// Of the first notes, each, the piece of the model that it speaks of (of a deadlock's rows); else empty.
  struct Piece {
    uint32_t stage = 0, chunk = 0;
    bool operator==(const Piece &) const = default;
  };
  std::vector<Piece> pieces = {};
  /// The tables hold what they must, only in an order that is not right: what needs no order can be judged all the
  /// same.
  bool ofOrder = false;
  bool operator==(const Fault &) const = default;
};
using Faults = std::vector<Fault>;

/// The candidate with the least edit distance from `name`, or "" when none is near: nearestName("1f1", {"gpipe",
/// "1f1b"}) is "1f1b", nearestName("x", {"gpipe"}) is "". Quadratic in the length of names.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);

/// "; did you mean 'NAME'" when a candidate is near, else "".
std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates);

} // namespace hocket::schedule
