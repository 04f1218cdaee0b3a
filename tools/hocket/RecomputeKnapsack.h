// The fewest operations for so many bytes, over units with a choice each.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace hocket::tools {

/// One way to treat a unit, against keeping all of it.
struct UnitChoice {
  uint64_t savedBytes = 0; ///< of one microbatch
  uint64_t flops = 0;      ///< made again in one microbatch
};

/// For each unit the index of its choice, so that together at least `needBytes` are saved and flops are least; of equal
/// ones the most saved. None if all together save too little. Follows combinations that no other beats in both numbers,
/// at most 65536 of them at a time: exact below, and above that within the bytes between neighbours.
std::optional<std::vector<unsigned>> cheapestChoices(const std::vector<std::vector<UnitChoice>> &units,
                                                     uint64_t needBytes);
/// Deals out the choices of units with equal lists anew: those of most flops to the first of them, or to the last.
void arrangeAlike(const std::vector<std::vector<UnitChoice>> &units, bool dearestFirst, std::vector<unsigned> &chosen);
} // namespace hocket::tools
