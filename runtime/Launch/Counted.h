// A number with its noun: "1 rank", "8 ranks", "2 microbatches".
#ifndef HOCKET_RUNTIME_LAUNCH_COUNTED_H
#define HOCKET_RUNTIME_LAUNCH_COUNTED_H

#include <fmt/format.h>
#include <string>

namespace hocket::run {
inline std::string counted(uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with("ch") ? "es" : "s");
}
} // namespace hocket::run
#endif
