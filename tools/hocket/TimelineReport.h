// hocket explain --timeline: a step of the plan over time, simulated with given times or with those of a trace.
#pragma once
#include "runtime/Program/program_generated.h"
#include "tools/hocket/Session.h"

namespace CLI {
class App;
}

namespace hocket::tools {
struct TimelineFlags {
  std::string form;  ///< text, svg or chrome; empty: no timeline
  std::string times; ///< "forward=1,backward=2,…", or the path of a trace; empty: every body 1, a whole backward 2

  void addTo(CLI::App &command);
};
/// Prints it; `json`: the figures of the text as one JSON document. False after a report.
bool explainTimeline(Session &session, const program::ProgramT &program, const TimelineFlags &flags, bool json);
/// The timeline at the end of the report for people, with a whole backward taken as twice a forward; "" where there is
/// one stage.
std::string timelineText(const program::ProgramT &program);
} // namespace hocket::tools
