// --memory, of a plan that leaves something open.
#pragma once
#include "tools/hocket/Lowering.h"

namespace hocket::tools {

/// Whether the plan leaves something to a limit: `recompute auto`, or a ZeRO-3 that does not say when it gathers.
bool leavesChoice(const Job &job);
/// What the plan leaves open is chosen within the limit: what `recompute auto` stands for, and when ZeRO-3 gathers.
/// `judges`: the command tells whether the plan fits; where it does not, a limit under which there is nothing to choose
/// has no effect, which is an error. Without a limit nothing is done. False after errors.
bool chooseWithin(Session &session, Job &job, std::optional<uint64_t> limitBytes, bool judges);
} // namespace hocket::tools
