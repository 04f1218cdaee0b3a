// Variables of the environment that change how ranks run, beside those of who started them: HOCKET_GRAPH and
// HOCKET_EMULATOR_CHECK (0 or 1), and for tests RANK@NUMBER (NumberOfRank.h). What reads them takes what is illegal for
// not set; so whoever starts a run asks here first.
#ifndef HOCKET_RUNTIME_EXECUTOR_VARIABLES_H
#define HOCKET_RUNTIME_EXECUTOR_VARIABLES_H

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::runtime {

inline constexpr char graphVariable[] = "HOCKET_GRAPH"; // 0: DeviceStep.h
// 0: the emulator looks for no faults of kernels, which is faster.
inline constexpr char emulatorCheckVariable[] = "HOCKET_EMULATOR_CHECK";
// RANK@N leaves out the N-th wait for an event in every pass of that rank.
inline constexpr char dropWaitVariable[] = "HOCKET_DROP_WAIT";
// RANK@N gives the N-th kernel of every pass memory behind the arena for its last buffer.
inline constexpr char strayVariable[] = "HOCKET_STRAY";

// One sentence for each that is set, not empty, and not legal for a run of so many ranks: variable, value, legal values.
std::vector<std::string> variableFaults(uint64_t ranks);

} // namespace hocket::runtime
#endif
