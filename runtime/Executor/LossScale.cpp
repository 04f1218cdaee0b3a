// See LossScale.h.
#include "runtime/Executor/LossScale.h"
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hocket::runtime {

void reportLossScale(nlohmann::json &event, const StepOutputs &outputs) {
  if (!std::isnan(outputs.lossScale))
    event["loss_scale"] = outputs.lossScale;
  if (!std::isnan(outputs.skipped))
    event["skipped"] = outputs.skipped != 0;
}

Status checkLossScale(const StepOutputs &outputs, uint64_t step) {
  if (std::isnan(outputs.exhausted) || outputs.exhausted == 0)
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("step {}: the gradients overflow, and the loss scale is already at its floor of {}; "
                           "parameters are as they were before this step",
                           step, outputs.lossScale),
               {}};
}

} // namespace hocket::runtime
