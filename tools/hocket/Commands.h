// The verbs of `hocket`. Each adds its sub-command, with the rules of its flags, and returns what runs it: an exit
// status. What runs finds nothing wrong with words that stand by themselves: they were checked when they were read.
#pragma once
#include "runtime/Launch/FlagRules.h"

namespace hocket::tools {
using Command = std::function<int()>;
Command addCompile(CLI::App &app, run::FlagRules &rules);
Command addCheck(CLI::App &app, run::FlagRules &rules);
Command addExplain(CLI::App &app, run::FlagRules &rules);
Command addDiff(CLI::App &app, run::FlagRules &rules);
Command addInterpret(CLI::App &app, run::FlagRules &rules);
Command addCheckpoints(CLI::App &app, run::FlagRules &rules);
} // namespace hocket::tools
