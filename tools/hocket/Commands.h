// The verbs of `hocket`. Each adds its sub-command and returns what runs it: an exit status.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace hocket::tools {
using Command = std::function<int()>;
Command addCompile(CLI::App &app);
Command addCheck(CLI::App &app);
Command addExplain(CLI::App &app);
Command addDiff(CLI::App &app);
Command addInterpret(CLI::App &app);
Command addCheckpoints(CLI::App &app);
} // namespace hocket::tools
