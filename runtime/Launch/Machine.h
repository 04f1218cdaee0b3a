// What this machine has, and what the ranks take of it.
#ifndef HOCKET_RUNTIME_LAUNCH_MACHINE_H
#define HOCKET_RUNTIME_LAUNCH_MACHINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::run {

// Bytes that can still be used without swapping: MemAvailable, or less where a cgroup says so. 0 if unknown.
uint64_t availableBytes();

// Proportional set size of a process (its private pages and its part of shared ones); 0 if it is gone.
uint64_t proportionalBytes(int pid);

// The most that this process has had in memory at once, as far as is known.
uint64_t peakBytesOfThisProcess();

// "1.50 GiB", "12.0 MiB"
std::string bytesText(uint64_t bytes);

} // namespace hocket::run
#endif
