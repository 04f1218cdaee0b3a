// DualPipe-V: DualPipe (DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv 2412.19437, section 3.2.1) cut in half: its
// two directions are the two arms of a V, and every forward in the middle stands beside a backward of the other chunk,
// whose communication it can hide.
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// clang-format off
// time    0   1   2   3   4   5   6   7   8   9   10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49  50
// stage 0 F0a F1a F2a F3a F4a F5a F6a F0b B0b W0b F1b B1b W1b F2b B2b W2b F3b F7a B3b W3b F4b B0a W0a B4b W4b F5b B1a W1a B5b W5b F6b B2a W2a B6b W6b F7b B3a W3a B7b W7b B4a W4a .   .   B5a W5a .   B6a W6a B7a W7a
// stage 1 .   F0a F1a F2a F3a F4a F0b F5a F1b B0b W0b F2b B1b W1b F3b F6a B2b W2b F4b B0a W0a F7a B3b W3b F5b B1a W1a B4b W4b F6b B2a W2a B5b W5b F7b B3a W3a B6b W6b B4a W4a B7b .   B5a W7b .   B6a W5a B7a W6a W7a
// stage 2 .   .   F0a F1a F2a F0b F3a F1b F4a F2b B0b W0b F3b F5a B1b W1b F4b B0a W0a F6a B2b W2b F5b B1a W1a F7a B3b W3b F6b B2a W2a B4b W4b F7b B3a W3a B5b W5b B4a W4a B6b W6b B5a B7b .   B6a W5a B7a W7b W6a W7a
// stage 3 .   .   .   F0a F0b F1a F1b F2a F2b F3a F3b F4a B0b W0b F4b B0a W0a F5a B1b W1b F5b B1a W1a F6a B2b W2b F6b B2a W2a F7a B3b W3b F7b B3a W3a B4b W4b B4a W4a B5b W5b B5a W5a B6b B6a B7b B7a W6b W6a W7b W7a
// clang-format on
//
// Stage s: 2(p-1-s) forwards of chunk 0; s+1 pairs of a forward of each chunk; p-1-s times a backward of chunk 1, the
// oldest weight gradient, a forward of chunk 1; m-2p+s+1 times a forward and a backward of either chunk; p-1-s times
// backward and forward of chunk 1, backward of chunk 0; s+1 pairs of backwards, from half of them on without their
// weight gradients; then backwards of chunk 0 and weight gradients in turn, and the weight gradients that are left.
// Time lost with equal times: p-1; 2p+1 chunks in flight, and one slot for what arrives early, without which its
// messages wait in a circle. m >= 2p.
#include "passes/Schedule/Solvers.h"

#include <array>
#include <fmt/format.h>

namespace hocket::schedule {
namespace {

class StageOrder {
public:
  StageOrder(uint32_t stages, uint32_t microbatches, uint32_t stage) : p(stages), m(microbatches), s(stage) {}

  std::vector<Step> make() {
    uint32_t rest = p - 1 - s;
    for (uint32_t i = 0; i < 2 * rest; ++i)
      forward(0);
    for (uint32_t i = 0; i <= s; ++i)
      forward(0), forward(1);
    for (uint32_t i = 0; i < rest; ++i)
      backward(1, true), weightGrad(), forward(1);
    for (uint32_t i = 0; i < m - 2 * p + s + 1; ++i)
      forward(0), backward(1), forward(1), backward(0);
    for (uint32_t i = 0; i < rest; ++i)
      backward(1), forward(1), backward(0);
    endPairs();
    for (uint32_t i = 0; i < rest; ++i)
      weightGrad(), backward(0, true);
    while (oldest < late.size())
      weightGrad();
    return std::move(order);
  }

private:
  /// Pairs 0 … s; from the middle one on (its second half, if s is even) weight gradients are left for later.
  void endPairs() {
    uint32_t middle = (s + 1) / 2;
    bool defer = false;
    for (uint32_t i = 0; i <= s; ++i) {
      defer |= i == middle && s % 2 == 1;
      backward(1, defer);
      defer |= i == middle && s % 2 == 0;
      backward(0, defer);
    }
  }
  void forward(uint16_t chunk) { order.push_back({BodyKind::Forward, chunk, forwards[chunk]++}); }
  void backward(uint16_t chunk, bool defer = false) {
    Step step{BodyKind::Backward, chunk, backwards[chunk]++};
    order.push_back(step);
    late.push_back({BodyKind::WeightGrad, chunk, step.microbatch});
    if (!defer)
      weightGrad();
  }
  void weightGrad() {
    if (oldest < late.size())
      order.push_back(late[oldest++]);
  }

  uint32_t p, m, s;
  std::vector<Step> order, late;
  size_t oldest = 0;
  std::array<uint32_t, 2> forwards{}, backwards{};
};

} // namespace

std::optional<Orders> orderDualPipeV(const Problem &problem, Faults &faults) {
  uint32_t p = problem.stages, m = problem.microbatches;
  if (m < 2 * p) {
    faults.push_back({fmt::format("dualpipe-v needs at least twice as many microbatches as stages: {} < {}; raise the "
                                  "batch, lower the microbatch, or use zb-v",
                                  m, 2 * p),
                      {}});
    return std::nullopt;
  }
  Orders orders;
  for (uint32_t s = 0; s < p; ++s)
    orders.push_back(StageOrder(p, m, s).make());
  return orders;
}

} // namespace hocket::schedule
