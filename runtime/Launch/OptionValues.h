// Checks of command-line values. CLI11 itself wraps numbers that do not fit and takes empty words.
#ifndef HOCKET_RUNTIME_LAUNCH_OPTIONVALUES_H
#define HOCKET_RUNTIME_LAUNCH_OPTIONVALUES_H

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <string>
#include <vector>

namespace hocket::run {

/// A whole number in decimal from `least` to `most`, both of which the message names.
inline CLI::Validator wholeNumber(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](std::string &text) -> std::string {
        int64_t value = 0;
        auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
          return "";
        return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
      },
      "", "whole number");
}

/// A name or a path.
inline CLI::Validator notEmpty() {
  return CLI::Validator([](std::string &text) { return std::string(text.empty() ? "an empty word is no value" : ""); },
                        "", "not empty");
}

/// One of the words listed.
inline CLI::Validator oneOf(std::vector<std::string> legal) {
  std::string listed = fmt::format("{{{}}}", fmt::join(legal, ","));
  return CLI::Validator(
      [legal](std::string &text) {
        bool known = std::find(legal.begin(), legal.end(), text) != legal.end();
        return known ? "" : fmt::format("unknown '{}' (legal: {})", text, fmt::join(legal, ", "));
      },
      listed, "one of");
}

/// A value that `find` looks through: it appends all that is wrong with it.
inline CLI::Validator withFaults(std::function<void(const std::string &, std::vector<std::string> &)> find) {
  return CLI::Validator(
      [find](std::string &text) {
        std::vector<std::string> faults;
        find(text, faults);
        return fmt::format("{}", fmt::join(faults, "\n"));
      },
      "", "value");
}
} // namespace hocket::run

#endif
