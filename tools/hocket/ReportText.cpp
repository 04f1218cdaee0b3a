// The report for people: stages alike are one block, layers alike one line, the step is a timeline.
#include "runtime/Launch/Counted.h"
#include "tools/hocket/StageText.h"
#include "tools/hocket/TimelineReport.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
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
