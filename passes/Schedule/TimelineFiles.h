// A simulated step as files that other programs show: Chrome's trace events (chrome://tracing, Perfetto), in the schema
// of `hocket-run --trace`, and a drawing in SVG.
#pragma once

#include "passes/Schedule/Simulator.h"

namespace hocket::schedule {

/// What the events of a timeline are called: a process for each stage, by default "stage 0", ….
struct TimelineNames {
  std::vector<std::string> processes; ///< by stage; empty: the default
  std::vector<uint32_t> ids;          ///< by stage: the process's number; empty: the stage
  double microseconds = 1000;         ///< of one unit of time
};

/// One complete event ("X") for every row that takes time, on the thread of its stream, with its microbatch; the gaps
/// of the stream that computes are events named "idle: CAUSE".
std::string chromeTimeline(const Tables &tables, const Simulation &simulation, const TimelineNames &names = {});

/// A line a stage, a box a body (forward blue, backward green, weight gradient orange, recompute purple, begin and
/// update grey), labelled where there is room; gaps are open and say their cause when pointed at. `width`: of the time,
/// in pixels.
std::string svgTimeline(const Tables &tables, const Simulation &simulation, uint32_t width = 1600);

} // namespace hocket::schedule
