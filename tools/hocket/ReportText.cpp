// The report for people: stages alike are one block, layers alike one line, the step is a timeline.
#include "passes/Schedule/Timeline.h"
#include "runtime/Launch/Counted.h"
#include "tools/hocket/ProgramTimeline.h"
#include "tools/hocket/StageText.h"
#include <fmt/format.h>
#include <sstream>
using namespace hocket;
using namespace hocket::tools;

namespace {
/// The beginning of every line, so that a screen can show it.
std::string cutLines(const std::string &text, size_t most) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    out += (line.size() > most ? line.substr(0, line.rfind(' ', most)) + " …" : line) + "\n";
  return out;
}

std::string timelineText(const program::ProgramT &program) {
  std::optional<ProgramTimeline> timeline = timelineOf(program);
  if (!timeline)
    return "";
  std::string out = "\ntimeline, a whole backward taken as twice a forward: ";
  out += schedule::summary(timeline->simulation) + "\n";
  if (timeline->simulation.makespan > 10'000)
    return out;
  schedule::TimelineOptions options;
  options.indent = "  ";
  options.unit = 1;
  return out + cutLines(schedule::renderTimeline(timeline->tables, timeline->simulation, options), 200);
}

/// `experts over dp:(2)2: 8 ranks = tp 2 · pp 1 · cp 1 · dp 4 = etp 2 · ep 2 · pp 1 · edp 2`
std::string expertText(const ExpertReport &experts) {
  auto more = [](int64_t factor, const char *what) { return factor == 1 ? "" : fmt::format(" · {} {}", factor, what); };
  return fmt::format("experts over {}: {} = tp {} · pp {} · cp {} · dp {}{} = etp {} · ep {} · pp {} · edp {}{}\n",
                     experts.axes, run::counted(experts.world, "rank"), experts.tp, experts.pp, experts.cp, experts.dp,
                     more(experts.rest, "unused"), experts.etp, experts.ep, experts.pp, experts.edp,
                     more(experts.copies, "that do the same"));
}
} // namespace

std::string hocket::tools::reportText(const Report &report, const program::ProgramT &program) {
  std::string mesh, out;
  for (auto &axis : program.axes)
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : " ", axis->name, axis->size);
  bool pipeline = program.ranks.size() > 1;
  out += fmt::format("model {} ({} parameters) under plan {} on {}\n", program.name, program.parameters, program.plan,
                     mesh);
  out += fmt::format("batch {} of {} tokens: {} of {} a rank; {}\n", run::counted(program.globalBatch, "sequence"),
                     program.sequence, run::counted(program.microbatches, "microbatch"),
                     run::counted(program.microbatchRows, "sequence"),
                     pipeline ? "schedule " + program.schedule : "no pipeline");
  if (report.experts)
    out += expertText(*report.experts);
  for (const StageClass &alike : stageClasses(report))
    out += classText(report, alike, pipeline);
  return out + (pipeline ? timelineText(program) : "");
}
