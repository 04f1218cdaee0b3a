// Checks of command-line values. CLI11 itself wraps numbers that do not fit and takes empty words.
#ifndef HOCKET_RUNTIME_LAUNCH_OPTIONVALUES_H
#define HOCKET_RUNTIME_LAUNCH_OPTIONVALUES_H

#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/format.h>
#include <string>

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
} // namespace hocket::run

#endif
