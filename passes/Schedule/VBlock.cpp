// Lays out one block, repeats it, and reads each stage's order off it.
#include "passes/Schedule/VBlock.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace hocket::schedule {
namespace {

constexpr uint32_t interval = 6;

/// When the four passes of microbatch 0 start on stage 0 (down) or stage p-1 (up).
struct Layout {
  VBlock block;
  uint32_t stages, forwardUp = 0, backwardDown = 0, backwardUp = 0;

  std::array<uint32_t, 4> times(uint32_t s) const {
    uint32_t rest = stages - 1 - s;
    return {block.forwardDown * s, forwardUp + block.forwardUp * rest, backwardDown + block.backwardDown * s,
            backwardUp + block.backwardUp * rest};
  }
  bool collides() const {
    for (uint32_t s = 0; s < stages; ++s) {
      uint32_t taken = 0;
      for (uint32_t time : times(s))
        if (taken & (1u << time % interval))
          return true;
        else
          taken |= 1u << time % interval;
    }
    return false;
  }
};

Layout layOut(const VBlock &block, uint32_t stages) {
  auto after = [&](uint32_t a, uint32_t b, uint32_t c) {
    Layout layout{block, stages};
    uint32_t way = stages - 1;
    layout.forwardUp = block.forwardDown * way + 1 + a;
    layout.backwardDown = layout.forwardUp + block.forwardUp * way + 1 + b;
    layout.backwardUp = layout.backwardDown + block.backwardDown * way + 1 + c;
    return layout;
  };
  for (uint32_t sum = 0; sum <= 3 * (interval - 1); ++sum)
    for (uint32_t a = 0; a <= sum && a < interval; ++a)
      for (uint32_t b = 0; a + b <= sum && b < interval; ++b)
        if (uint32_t c = sum - a - b; c < interval)
          if (Layout layout = after(a, b, c); !layout.collides())
            return layout;
  return after(0, 0, 0);
}

} // namespace

Orders repeatVBlock(const VBlock &block, uint32_t stages, uint32_t microbatches) {
  Layout layout = layOut(block, stages);
  Orders orders(stages);
  for (uint32_t s = 0; s < stages; ++s) {
    std::array<uint32_t, 4> times = layout.times(s);
    static constexpr std::pair<BodyKind, uint16_t> passes[] = {
        {BodyKind::Forward, 0}, {BodyKind::Forward, 1}, {BodyKind::Backward, 1}, {BodyKind::Backward, 0}};
    std::vector<std::tuple<uint64_t, unsigned, uint32_t>> placed; // time, pass, microbatch
    for (uint32_t i = 0; i < microbatches; ++i)
      for (unsigned pass = 0; pass < 4; ++pass)
        placed.push_back({uint64_t(interval) * i + times[pass], pass, i});
    std::sort(placed.begin(), placed.end());
    for (const auto &[time, pass, i] : placed)
      orders[s].push_back({passes[pass].first, passes[pass].second, i});
  }
  return orders;
}

} // namespace hocket::schedule
