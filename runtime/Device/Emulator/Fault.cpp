// How faults read.
#include "runtime/Device/Emulator/Fault.h"
#include <fmt/format.h>

namespace hocket::runtime::emulator {

std::string toString(Extent extent) { return fmt::format("({},{},{})", extent.x, extent.y, extent.z); }

std::string listed(const std::vector<Fault> &faults) {
  std::string text;
  for (const Fault &fault : faults) {
    if (!text.empty())
      text += '\n';
    text += fault.message;
    if (fault.alike)
      text += fmt::format(" (and {} more like it)", fault.alike);
  }
  return text;
}

} // namespace hocket::runtime::emulator
