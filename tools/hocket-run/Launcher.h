// One run on this host: checks everything that can be checked before a process starts, starts the ranks, watches them,
// ends them.
#ifndef HOCKET_TOOLS_HOCKET_RUN_LAUNCHER_H
#define HOCKET_TOOLS_HOCKET_RUN_LAUNCHER_H

#include "runtime/Launch/Options.h"

namespace hocket::run {

// Runs it all; messages go to stderr, progress to stdout.
Exit launch(const Options &options);

} // namespace hocket::run
#endif
