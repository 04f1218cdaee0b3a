// See MetricsFile.h.
#include "runtime/Launch/MetricsFile.h"
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hocket::run {

runtime::Result<uint64_t> metricsUpTo(const std::string &path, uint64_t step) {
  std::ifstream file(path);
  uint64_t bytes = 0, number = 1;
  for (std::string line; std::getline(file, line) && !file.eof(); ++number) {
    nlohmann::json parsed = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    auto found = parsed.is_object() ? parsed.find("step") : parsed.end();
    if (!parsed.is_object() || found == parsed.end() || !found->is_number_unsigned())
      return runtime::Error{
          runtime::ErrorKind::Invalid,
          fmt::format("line {} of '{}' is no line of metrics, the run cannot go on with this file", number, path),
          {}};
    if (found->get<uint64_t>() > step)
      break;
    bytes += line.size() + 1;
  }
  return bytes;
}

} // namespace hocket::run
