// See RecomputeKnapsack.h.
#include "tools/hocket/RecomputeKnapsack.h"
#include <algorithm>
#include <map>

namespace hocket::tools {
namespace {
/// A combination of choices for the first units.
struct Combination {
  uint64_t saved, flops;
  int32_t before; ///< index among those of the units before, -1 at the start
  unsigned choice;
};
constexpr size_t most = 65536;

/// Those that no other beats, by falling flops and falling savings.
std::vector<Combination> best(std::vector<Combination> all) {
  std::stable_sort(all.begin(), all.end(), [](const Combination &a, const Combination &b) {
    return a.saved != b.saved ? a.saved > b.saved : a.flops < b.flops;
  });
  std::vector<Combination> kept;
  for (const Combination &each : all)
    if (kept.empty() || each.flops < kept.back().flops)
      kept.push_back(each);
  size_t stride = (kept.size() + most - 1) / most;
  if (stride <= 1)
    return kept;
  std::vector<Combination> thinned;
  for (size_t i = 0; i < kept.size(); i += stride)
    thinned.push_back(kept[i]);
  return thinned;
}

bool same(const std::vector<UnitChoice> &a, const std::vector<UnitChoice> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const UnitChoice &x, const UnitChoice &y) {
    return x.savedBytes == y.savedBytes && x.flops == y.flops;
  });
}

} // namespace

void arrangeAlike(const std::vector<std::vector<UnitChoice>> &units, bool dearestFirst, std::vector<unsigned> &chosen) {
  std::vector<bool> done(units.size());
  for (size_t first = 0; first < units.size(); ++first) {
    if (done[first])
      continue;
    std::vector<size_t> alike;
    std::vector<unsigned> choices;
    for (size_t i = first; i < units.size(); ++i)
      if (!done[i] && same(units[first], units[i])) {
        done[i] = true;
        alike.push_back(i);
        choices.push_back(chosen[i]);
      }
    std::stable_sort(choices.begin(), choices.end(),
                     [&](unsigned a, unsigned b) { return units[first][a].flops > units[first][b].flops; });
    if (!dearestFirst)
      std::reverse(choices.begin(), choices.end());
    for (size_t i = 0; i < alike.size(); ++i)
      chosen[alike[i]] = choices[i];
  }
}

std::optional<std::vector<unsigned>> cheapestChoices(const std::vector<std::vector<UnitChoice>> &units,
                                                     uint64_t needBytes) {
  std::vector<std::vector<Combination>> steps{{{0, 0, -1, 0}}};
  for (const auto &choices : units) {
    std::vector<Combination> next;
    for (size_t before = 0; before < steps.back().size(); ++before)
      for (unsigned choice = 0; choice < choices.size(); ++choice)
        next.push_back({steps.back()[before].saved + choices[choice].savedBytes,
                        steps.back()[before].flops + choices[choice].flops, static_cast<int32_t>(before), choice});
    steps.push_back(best(std::move(next)));
  }
  int32_t at = -1;
  for (size_t i = 0; i < steps.back().size() && steps.back()[i].saved >= needBytes; ++i)
    at = static_cast<int32_t>(i); // savings and flops fall together
  if (at < 0)
    return std::nullopt;
  std::vector<unsigned> chosen(units.size());
  for (size_t unit = units.size(); unit > 0; --unit) {
    chosen[unit - 1] = steps[unit][at].choice;
    at = steps[unit][at].before;
  }
  return chosen;
}
} // namespace hocket::tools
