// Cuts by cost: first the least cost that the costliest piece can have, then the most even pieces that keep to it.
#include "passes/Schedule/Stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hocket::schedule {
namespace {

class Balance {
public:
  Balance(const std::vector<double> &costs, const std::vector<uint32_t> &places) : places(places), sums{0} {
    for (double cost : costs)
      sums.push_back(sums.back() + cost);
    stages = *std::max_element(places.begin(), places.end()) + 1;
  }

  std::vector<uint32_t> find() {
    std::vector<uint32_t> sizes = evenUnder(leastBottleneck());
    if (stages < places.size())
      descend(sizes);
    return sizes;
  }

private:
  size_t layers() const { return sums.size() - 1; }
  size_t pieces() const { return places.size(); }
  double cost(size_t from, size_t to) const { return sums[to] - sums[from]; }

  /// The cost of the costliest piece in the best cut.
  double leastBottleneck() const {
    std::vector<double> best(layers() + 1, infinity); // of the first i layers in k pieces
    best[0] = 0;
    for (size_t k = 1; k <= pieces(); ++k)
      for (size_t i = layers() + 1; i-- > 0;) {
        double least = infinity;
        for (size_t j = k - 1; j < i; ++j)
          least = std::min(least, std::max(best[j], cost(j, i)));
        best[i] = least;
      }
    return best[layers()];
  }

  /// The cut with the least sum of squares among those whose pieces cost at most `bottleneck`; longer pieces first.
  std::vector<uint32_t> evenUnder(double bottleneck) const {
    double bound = bottleneck * (1 + 1e-12);
    // rest[k][i]: of layers i and after in the pieces k and after.
    std::vector<std::vector<double>> rest(pieces() + 1, std::vector<double>(layers() + 1, infinity));
    rest[pieces()][layers()] = 0;
    auto with = [&](size_t k, size_t i, size_t j) {
      return cost(i, j) > bound ? infinity : cost(i, j) * cost(i, j) + rest[k + 1][j];
    };
    for (size_t k = pieces(); k-- > 0;)
      for (size_t i = k; i < layers(); ++i)
        for (size_t j = i + 1; j <= layers(); ++j)
          rest[k][i] = std::min(rest[k][i], with(k, i, j));
    std::vector<uint32_t> sizes;
    for (size_t k = 0, i = 0; k < pieces(); ++k) {
      size_t longest = i + 1;
      for (size_t j = i + 1; j <= layers(); ++j)
        if (with(k, i, j) <= rest[k][i] * (1 + 1e-12))
          longest = j;
      sizes.push_back(uint32_t(longest - i));
      i = longest;
    }
    return sizes;
  }

  /// The loads of stages, the greatest first: what two cuts are compared by.
  std::vector<double> loads(const std::vector<uint32_t> &sizes) const {
    std::vector<double> load(stages, 0);
    size_t layer = 0;
    for (size_t k = 0; k < pieces(); ++k) {
      load[places[k]] += cost(layer, layer + sizes[k]);
      layer += sizes[k];
    }
    std::sort(load.rbegin(), load.rend());
    return load;
  }

  bool better(const std::vector<uint32_t> &sizes, const std::vector<double> &than) const {
    std::vector<double> load = loads(sizes);
    for (size_t s = 0; s < stages; ++s)
      if (std::abs(load[s] - than[s]) > 1e-12 * than[0])
        return load[s] < than[s];
    return false;
  }

  /// Takes a layer from one piece and gives it to another, which moves every cut between them.
  void descend(std::vector<uint32_t> &sizes) const {
    for (bool moved = true; moved;) {
      moved = false;
      std::vector<double> now = loads(sizes);
      for (size_t from = 0; from < pieces() && !moved; ++from)
        for (size_t to = 0; to < pieces() && !moved; ++to) {
          if (from == to || sizes[from] == 1)
            continue;
          --sizes[from];
          ++sizes[to];
          moved = better(sizes, now);
          if (!moved) {
            ++sizes[from];
            --sizes[to];
          }
        }
    }
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<uint32_t> &places;
  std::vector<double> sums; // of the first i layers
  size_t stages;
};

} // namespace

std::optional<std::vector<uint32_t>> balancedStages(const std::vector<double> &costs,
                                                    const std::vector<uint32_t> &places, Faults &faults) {
  if (!evenStages(uint32_t(costs.size()), uint32_t(places.size()), faults))
    return std::nullopt;
  return Balance(costs, places).find();
}

} // namespace hocket::schedule
