// hocket explain --at FILE:LINE: what one line of the model becomes.
#pragma once
#include "tools/hocket/ShardingReport.h"

namespace hocket::tools {
class Session;

/// What is wrong with the words of `--at`: they are FILE:LINE.
void lineFaults(const std::string &at, std::vector<std::string> &faults);
/// Prints where the line's values live and which tactics put them there; and, for each stage, what its ops hold,
/// compute and send in a training step, with the cause of each collective and what would remove it. FILE may leave
/// folders out. False after an error: nothing comes of that line.
bool explainLine(Session &session, const program::ProgramT &program, const ShardingFacts &facts, const std::string &at,
                 bool json);
} // namespace hocket::tools
