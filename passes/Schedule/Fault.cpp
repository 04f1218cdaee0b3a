// Nearest names for faults that name something unknown.
#include "passes/Schedule/Fault.h"

#include <algorithm>
#include <numeric>

namespace hocket::schedule {

static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j)
      row[j + 1] = std::min({above[j + 1] + 1, row[j] + 1, above[j] + (a[i] != b[j])});
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  std::string best;
  size_t bestDistance = name.size() / 2 + 1;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates) {
  std::string near = nearestName(name, candidates);
  return near.empty() ? "" : "; did you mean '" + near + "'";
}

} // namespace hocket::schedule
