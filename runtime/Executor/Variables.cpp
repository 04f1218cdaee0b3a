// See Variables.h.
#include "runtime/Executor/Variables.h"
#include "runtime/Executor/Poison.h"
#include "runtime/Executor/Stall.h"
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

namespace hocket::runtime {

static bool isSwitch(std::string_view text) { return text == "0" || text == "1"; }

static bool isWhole(std::string_view text, uint64_t least, uint64_t most) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
}

static bool isOfRank(std::string_view text, uint64_t ranks) {
  size_t at = text.find('@');
  return at != text.npos && isWhole(text.substr(0, at), 0, ranks - 1) && isWhole(text.substr(at + 1), 1, UINT64_MAX);
}

std::vector<std::string> variableFaults(uint64_t ranks) {
  std::vector<std::string> faults;
  for (const char *name : {graphVariable, emulatorCheckVariable})
    if (const char *text = std::getenv(name); text && *text && !isSwitch(text))
      faults.push_back(fmt::format("{} is '{}'; legal are 0 and 1", name, text));
  for (const auto &[name, second] : {std::pair(poisonVariable, "STEP"), std::pair(stallVariable, "STEP"),
                                     std::pair(dropWaitVariable, "N"), std::pair(strayVariable, "N")})
    if (const char *text = std::getenv(name); text && *text && !isOfRank(text, ranks))
      faults.push_back(fmt::format("{0} is '{1}'; legal is RANK@{2}, RANK from 0 to {3} and {2} from 1 on", name, text,
                                   second, ranks - 1));
  return faults;
}

} // namespace hocket::runtime
