// Layers over stages, conserved.
#include "passes/Schedule/Stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace hocket::schedule {

std::optional<std::vector<uint32_t>> evenStages(uint32_t layers, uint32_t stages, Faults &faults) {
  if (layers == 0) {
    faults.push_back({"the model has 0 layers; stages need at least 1", {}});
    return std::nullopt;
  }
  if (stages == 0 || stages > layers) {
    faults.push_back({stages == 0 ? fmt::format("stages is 0; legal: 1..{}", layers)
                                  : fmt::format("stages {} exceed layers {}; legal: 1..{}", stages, layers, layers),
                      {}});
    return std::nullopt;
  }
  std::vector<uint32_t> sizes(stages, layers / stages);
  for (uint32_t s = 0; s < layers % stages; ++s)
    ++sizes[s];
  return sizes;
}

bool checkPieces(uint32_t layers, uint32_t stages, uint32_t chunks, Faults &faults) {
  if (uint64_t(stages) * chunks <= layers)
    return true;
  auto upTo = [](uint32_t most, const char *what) {
    return most == 1 ? fmt::format("1 {}", what) : fmt::format("1..{} {}s", most, what);
  };
  auto count = [](uint32_t n, const char *what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  std::vector<std::string> legal;
  if (layers >= chunks)
    legal.push_back(fmt::format("{} of {}", upTo(layers / chunks, "stage"), count(chunks, "chunk")));
  if (layers >= stages)
    legal.push_back(fmt::format("{} of {}{}", count(stages, "stage"), upTo(layers / stages, "chunk"),
                                layers / stages == 1 ? " under a schedule of one" : ""));
  if (legal.empty())
    legal.push_back(fmt::format("{} of 1 chunk", upTo(layers, "stage")));
  faults.push_back({fmt::format("{} of {} are {} pieces, which exceed layers {}; legal: {}", count(stages, "stage"),
                                count(chunks, "chunk"), uint64_t(stages) * chunks, layers, fmt::join(legal, ", or ")),
                    {}});
  return false;
}

bool checkStages(uint32_t layers, const std::vector<uint32_t> &sizes, Faults &faults) {
  size_t before = faults.size();
  uint64_t held = std::accumulate(sizes.begin(), sizes.end(), uint64_t(0));
  std::string sum = fmt::format("{}{}", fmt::join(sizes, " + "), sizes.size() > 1 ? fmt::format(" = {}", held) : "");
  if (held < layers)
    faults.push_back({fmt::format("stages hold {} layers, the model has {}; {} on no stage", sum, layers,
                                  held + 1 == layers ? fmt::format("layer {} is", held)
                                                     : fmt::format("layers {}..{} are", held, layers - 1)),
                      {}});
  if (held > layers)
    faults.push_back(
        {fmt::format("stages hold {} layers, the model has {}; {} too many", sum, layers, held - layers), {}});
  for (size_t s = 0; s < sizes.size(); ++s)
    if (sizes[s] == 0)
      faults.push_back({fmt::format("stage {} holds 0 layers; legal: 1 or more", s), {}});
  return faults.size() == before;
}

} // namespace hocket::schedule
