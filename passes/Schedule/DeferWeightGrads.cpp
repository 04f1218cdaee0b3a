// Weight gradients a fixed number of backwards late.
#include "passes/Schedule/DeferWeightGrads.h"

#include <algorithm>

namespace hocket::schedule {

std::vector<Step> orderWithLateWeightGrads(uint32_t microbatches, uint32_t ahead, uint32_t late) {
  std::vector<Step> order;
  uint32_t m = microbatches, weightGrads = 0;
  ahead = std::min(ahead, m);
  for (uint32_t i = 0; i < m + ahead; ++i) {
    if (i < m)
      order.push_back({BodyKind::Forward, 0, i});
    if (i < ahead)
      continue;
    order.push_back({BodyKind::Backward, 0, i - ahead});
    if (i - ahead >= late)
      order.push_back({BodyKind::WeightGrad, 0, weightGrads++});
  }
  while (weightGrads < m)
    order.push_back({BodyKind::WeightGrad, 0, weightGrads++});
  return order;
}

} // namespace hocket::schedule
