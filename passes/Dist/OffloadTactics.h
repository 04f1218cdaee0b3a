// What may be wrong with `offload` before anything is lowered.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {
/// Reports offload tactics that name no layer or parameter of the model, name what a tactic before them names already,
/// or want state of parameters that have none. True if there are none. Whether there is something to move is
/// step-offload's to say.
bool checkOffload(nn::TrainingStepOp step, PlanOp plan);
} // namespace hocket::dist
