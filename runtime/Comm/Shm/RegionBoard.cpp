// See RegionBoard.h.
#include "runtime/Comm/Shm/RegionBoard.h"
#include <fmt/format.h>
#include <fstream>

namespace hocket::runtime::shm {

bool RegionBoard::stopped(int rank) const {
  std::ifstream stat(fmt::format("/proc/{}/stat", region.status(rank).pid.load()));
  std::string line;
  std::getline(stat, line);
  size_t name = line.rfind(')'); // the process's name may hold anything
  return name != std::string::npos && name + 2 < line.size() && (line[name + 2] == 'T' || line[name + 2] == 't');
}

} // namespace hocket::runtime::shm
