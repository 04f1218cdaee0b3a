// The report for people: stages alike are one block, layers alike one line, the step is a timeline.
#include "runtime/Launch/Counted.h"
#include "tools/hocket/StageText.h"
#include "tools/hocket/TimelineReport.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

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
  for (const StageClass &alike : stageClasses(report))
    out += classText(report, alike, pipeline);
  return out + (pipeline ? timelineText(program) : "");
}
