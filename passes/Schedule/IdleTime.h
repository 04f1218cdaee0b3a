// Why a stage stands idle: each gap of the stream that computes, with its cause.
#pragma once

#include "passes/Schedule/Simulator.h"

namespace hocket::schedule {

/// WarmUp: before the stage's first backward (or at all, where there is none): the pipeline fills. CoolDown: after its
/// last forward: it drains, up to the end of the step on all stages. In between: the body behind the gap waited longest
/// for an activation, for a gradient, or for a send or body that still used its slot.
enum class IdleCause : uint8_t { WarmUp, CoolDown, Activation, Gradient, Slot };
inline constexpr unsigned idleCauses = 5;
/// "warm-up", "cool-down", "waits for an activation", "waits for a gradient", "waits for a slot"
const char *name(IdleCause cause);

struct IdleTime {
  double start = 0, end = 0;
  IdleCause cause = IdleCause::WarmUp;
};

/// The gaps of one stage in the order of time, up to `makespan`. `start` and `end` are of the stage's rows: simulated,
/// or measured. What takes no time opens no gap.
std::vector<IdleTime> idleTimes(const Tables &tables, uint32_t stage, const std::vector<double> &start,
                                const std::vector<double> &end, double makespan);
std::vector<IdleTime> idleTimes(const Tables &tables, uint32_t stage, const Simulation &simulation);

/// Sums by cause.
std::array<double, idleCauses> sumByCause(const std::vector<IdleTime> &gaps);

} // namespace hocket::schedule
