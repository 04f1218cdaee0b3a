// hocket explain --at FILE:LINE: what one line of the model becomes.
#pragma once
#include "runtime/Program/program_generated.h"
#include <string>

namespace hocket::tools {
class Session;

/// Prints, for each stage, what the line's ops hold, compute and send in a training step. FILE may leave folders out.
/// False after an error: `at` is no FILE:LINE, or nothing comes of that line.
bool explainLine(Session &session, const program::ProgramT &program, const std::string &at, bool json);
} // namespace hocket::tools
