// Reads /proc and the cgroup.
#include "runtime/Launch/Machine.h"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>

namespace hocket::run {

// The number after `key` in lines like "Pss:   123 kB".
static std::optional<uint64_t> kibibytes(const std::string &path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0) {
      std::istringstream rest(line.substr(key.size()));
      uint64_t value;
      if (rest >> value)
        return value * 1024;
    }
  return {};
}

static std::optional<uint64_t> number(const std::string &path) {
  std::ifstream file(path);
  uint64_t value;
  if (file >> value) // "max" is no number
    return value;
  return {};
}

uint64_t availableBytes() {
  uint64_t result = kibibytes("/proc/meminfo", "MemAvailable:").value_or(0);
  std::optional<uint64_t> limit = number("/sys/fs/cgroup/memory.max"), used = number("/sys/fs/cgroup/memory.current");
  if (limit && used)
    result = std::min(result, *limit - std::min(*limit, *used));
  return result;
}

uint64_t proportionalBytes(int pid) { return kibibytes(fmt::format("/proc/{}/smaps_rollup", pid), "Pss:").value_or(0); }

uint64_t peakBytesOfThisProcess() { return kibibytes("/proc/self/status", "VmHWM:").value_or(0); }

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

} // namespace hocket::run
