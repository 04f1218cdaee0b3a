// One chunk a stage: one forward and one backward in turn after a number of forwards ahead, and every weight gradient a
// fixed number of backwards late. 1F1B is 0 late; ZB-H1 and ZB-H2 are of this form.
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

/// Of one stage; `ahead` and `late` may exceed m. The weight gradients that are left come last.
std::vector<Step> orderWithLateWeightGrads(uint32_t microbatches, uint32_t ahead, uint32_t late);

} // namespace hocket::schedule
