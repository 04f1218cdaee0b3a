// What a loss scale adds to a step of a run. The scale itself, its growth and back-off and the choice to skip a step
// are part of the program; every rank finds the same numbers in its outputs.
#ifndef HOCKET_RUNTIME_EXECUTOR_LOSSSCALE_H
#define HOCKET_RUNTIME_EXECUTOR_LOSSSCALE_H

#include "runtime/Executor/Rank.h"
#include <nlohmann/json_fwd.hpp>

namespace hocket::runtime {

// Adds "loss_scale" (that of this step) and "skipped" to the report of a step, where the program has them.
void reportLossScale(nlohmann::json &event, const StepOutputs &outputs);

// Fails where the gradients overflow and the scale cannot fall any more. That is Invalid: no rank has failed, all find
// it at the same step, and the same run would end in the same way; what must change is the recipe or the data. The step
// was skipped: parameters and optimizer are as they were before it.
Status checkLossScale(const StepOutputs &outputs, uint64_t step);

} // namespace hocket::runtime
#endif
