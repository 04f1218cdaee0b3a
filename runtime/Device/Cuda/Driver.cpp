// The driver: opened, old enough, started.
#include "runtime/Device/Cuda/Driver.h"
#include <fmt/format.h>

namespace hocket::runtime::cuda {

static constexpr std::string_view what = "the NVIDIA driver", need = "a driver for CUDA 12.0 or later";

std::vector<std::string> Driver::symbols() { return {HOCKET_DRIVER_FUNCTIONS(HOCKET_NAME)}; }

Result<Driver> Driver::open(const char *file) {
  Driver table;
  const Symbol symbols[] = {HOCKET_DRIVER_FUNCTIONS(HOCKET_SYMBOL)};
  const char *files[] = {file};
  if (Status opened = openLibrary(files, symbols, what, need); !opened)
    return std::move(opened.error());
  int version = 0;
  if (Status asked = table.check(table.driverGetVersion(&version), "cuDriverGetVersion"); !asked)
    return std::move(asked.error());
  if (version < leastDriver)
    return Error{ErrorKind::Lacking,
                 fmt::format("{} is too old: it is for CUDA {}.{}; {} is needed", what, version / 1000,
                             version % 1000 / 10, need),
                 {}};
  if (int outcome = table.init(0); outcome == noDevice)
    return Error{ErrorKind::Lacking, "the NVIDIA driver finds no GPU on this machine", {}};
  else if (Status started = table.check(outcome, "cuInit"); !started)
    return Error{ErrorKind::Lacking, std::move(started.error().message), {}};
  return table;
}

Status Driver::check(int outcome, std::string_view call) const {
  if (outcome == success)
    return {};
  const char *name = nullptr, *text = nullptr;
  getErrorName(outcome, &name);
  getErrorString(outcome, &text);
  return Error{ErrorKind::Invalid,
               fmt::format("{}: {} ({})", call, text ? text : "unknown error", name ? name : std::to_string(outcome)),
               {}};
}

} // namespace hocket::runtime::cuda
