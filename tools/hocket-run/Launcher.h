// One run: checks everything that can be checked before a process starts, starts the ranks, watches them, ends them.
#ifndef HOCKET_TOOLS_HOCKET_RUN_LAUNCHER_H
#define HOCKET_TOOLS_HOCKET_RUN_LAUNCHER_H

#include "runtime/Data/TokenFile.h"
#include <optional>
#include <string>
#include <vector>

namespace hocket::run {

// Exit status of hocket-run.
enum Exit { Done = 0, InputFault = 1, CommandLine = 2, RankFailed = 3, MachineLacks = 4 };

struct Options {
  std::string executable;
  uint64_t ranks = 0;
  std::string data;
  runtime::TokenType dataType = runtime::TokenType::U8;
  uint64_t steps = 0;
  std::optional<uint64_t> seed;
  std::string metrics, trace, dump;
  std::vector<uint64_t> dumpSteps;
  double timeoutSeconds = 60;
  bool checkFinite = false;
};

// Runs it all; messages go to stderr, progress to stdout.
Exit launch(const Options &options);

} // namespace hocket::run
#endif
