// Whole text of a file that the user names: a schedule, a trace.
#pragma once
#include <optional>
#include <string>

namespace hocket::tools {

/// `why` says what is wrong ("No such file or directory") where there is no text. Only files and pipes of the shell,
/// `<(…)`, are read: a device may have no end, and a named pipe that nobody writes to no beginning.
std::optional<std::string> readInput(const std::string &path, std::string &why);

/// `/dev/stdin`, `/dev/fd/…` and `/proc/…` stand for what somebody has opened, `<(…)` too.
bool isOpened(const std::string &path);
} // namespace hocket::tools
