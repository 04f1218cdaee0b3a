// What metrics say of a step beside what rank 0 reports of it: rates, from the program's counts and the step's time.
#ifndef HOCKET_RUNTIME_LAUNCH_RATES_H
#define HOCKET_RUNTIME_LAUNCH_RATES_H

#include "runtime/Program/StepCounts.h"
#include <nlohmann/json_fwd.hpp>

namespace hocket::run {

// Adds to a "step" event: tokens_per_second, flops_per_second (of all ranks), sent_bytes (by all ranks in the step) and
// sent_bytes_max (by the rank that sends most).
void addRates(nlohmann::json &event, const program::StepCounts &counts);

} // namespace hocket::run
#endif
