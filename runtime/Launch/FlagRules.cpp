// See FlagRules.h.
#include "runtime/Launch/FlagRules.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::run {

static std::string nameOf(const std::string &word) { return word.substr(0, word.find('=')); }

bool GivenWords::has(const std::string &word) const {
  std::vector<std::string> found = values(nameOf(word));
  size_t equals = word.find('=');
  return equals == std::string::npos ? !found.empty()
                                     : std::find(found.begin(), found.end(), word.substr(equals + 1)) != found.end();
}

std::vector<std::string> GivenWords::values(const std::string &option) const {
  return command.get_option(option)->results();
}

std::string GivenWords::text(const std::string &option) const { return givenText(*command.get_option(option)); }

std::string givenText(const CLI::Option &option) {
  if (option.get_items_expected_max() == 0 || option.results().empty())
    return option.get_name();
  return fmt::format("{} {}", option.get_name(), option.results().front());
}

void FlagRules::belongs(CLI::App &command, const std::string &flag, std::vector<std::string> homes) {
  for (const std::string &home : homes)
    command.get_option(nameOf(home));
  command.get_option(flag);
  look(command, [flag, homes = std::move(homes)](const GivenWords &given, std::vector<std::string> &faults) {
    if (given.has(flag) && std::none_of(homes.begin(), homes.end(), [&](auto &home) { return given.has(home); }))
      faults.push_back(fmt::format("{} has no effect without {}", given.text(flag), fmt::join(homes, " or ")));
  });
}

void FlagRules::apart(CLI::App &command, const std::string &flag, std::vector<std::string> others) {
  for (const std::string &other : others)
    command.get_option(nameOf(other));
  command.get_option(flag);
  look(command, [flag, others = std::move(others)](const GivenWords &given, std::vector<std::string> &faults) {
    for (const std::string &other : others)
      if (given.has(flag) && given.has(other))
        faults.push_back(fmt::format("{} has no effect beside {}", given.text(flag), other));
  });
}

void FlagRules::look(CLI::App &command, Look look) { looks[&command].push_back(std::move(look)); }

std::vector<std::string> FlagRules::faults(const CLI::App &command) const {
  std::vector<std::string> result;
  if (auto found = looks.find(&command); found != looks.end())
    for (const Look &look : found->second)
      look(GivenWords(command), result);
  return result;
}

} // namespace hocket::run
