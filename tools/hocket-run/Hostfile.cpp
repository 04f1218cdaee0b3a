// See Hostfile.h.
#include "tools/hocket-run/Hostfile.h"
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;

static bool readNumber(std::string_view text, uint64_t &number) {
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() && number >= 1 && number <= 1 << 20;
}

// One line; its faults are appended.
static Host readLine(const std::string &line, const std::string &where, std::vector<std::string> &faults) {
  Host host;
  std::istringstream words(line);
  words >> host.name;
  if (host.name.find('=') != std::string::npos)
    faults.push_back(fmt::format("{}: '{}' stands where the name of a host is expected", where, host.name));
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    uint64_t number = 0;
    if (key != "slots" && key != "max_slots" && key != "max-slots")
      faults.push_back(fmt::format("{}: unknown word '{}'; after the host stand slots=N and max_slots=N", where, word));
    else if (!readNumber(value, number))
      faults.push_back(fmt::format("{}: '{}' is not a whole number from 1 to {}", where, word, 1 << 20));
    else if (key == "slots")
      host.slots = number;
  }
  return host;
}

Result<Hostfile> Hostfile::read(const std::string &path, uint64_t ranks) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
    return Error{ErrorKind::Invalid, fmt::format("hosts file '{}' is not a file", path), {}};
  std::ifstream file(path);
  if (!file)
    return Error{ErrorKind::Invalid, fmt::format("cannot open hosts file '{}': {}", path, std::strerror(errno)), {}};
  Hostfile result;
  result.path = path;
  std::vector<std::string> faults;
  uint64_t slots = 0;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    Host host = readLine(line, fmt::format("{}:{}", path, number), faults);
    host.line = number;
    for (const Host &other : result.list)
      if (other.name == host.name)
        faults.push_back(
            fmt::format("{}:{}: host '{}' stands already in line {}", path, number, host.name, other.line));
    slots += host.slots;
    result.list.push_back(std::move(host));
  }
  if (faults.empty() && result.list.empty())
    faults.push_back(fmt::format("hosts file '{}' names no host", path));
  else if (faults.empty() && slots < ranks)
    faults.push_back(fmt::format("hosts file '{}' has {} slots on {} hosts, the program needs {}", path, slots,
                                 result.list.size(), ranks));
  if (!faults.empty())
    return Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(faults, "\nerror: ")), {}};
  return result;
}

} // namespace hocket::run
