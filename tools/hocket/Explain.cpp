// hocket explain: what every rank will hold, do and send.
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Launch/Counted.h"
#include "tools/CommandLine.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/LineReport.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/Report.h"
#include "tools/hocket/TimelineReport.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct ExplainOptions {
  ModelFile model;
  std::string format = "text", at;
  std::optional<uint32_t> rank;
  PlanFlags plan;
  TimelineFlags timeline;
};

int explain(const ExplainOptions &options) {
  Session session;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job)
    return InputAtFault;
  PlanChoice &choice = job->choice;
  auto module = lower(session, choice, job->shape, Layer::Kernels);
  if (!module)
    return InputAtFault;
  auto program = step::buildProgram(*module, {});
  if (!program)
    return InputAtFault;
  if (!options.at.empty())
    return explainLine(session, *program, options.at, options.format == "json") ? Done : InputAtFault;
  if (!options.timeline.form.empty())
    return explainTimeline(session, *program, options.timeline, options.format == "json") ? Done : InputAtFault;
  int64_t world = choice.mesh.getWorldSize();
  if (options.rank && *options.rank >= world) {
    session.error(fmt::format("--rank {}: the plan has {}, numbered from 0 to {}", *options.rank,
                              run::counted(world, "rank"), world - 1));
    return InputAtFault;
  }
  Report report = makeReport(*program, options.rank);
  addTypesFrom(*module, report);
  if (options.format == "json")
    fmt::print("{}\n", reportJson(report, *program).dump(2));
  else
    fmt::print("{}", reportText(report, *program));
  return Done;
}
} // namespace

Command hocket::tools::addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  auto *command = app.add_subcommand(
      "explain", "per class of equal ranks: stage, layers, groups, memory, transfers and their causes");
  options->model.addTo(*command);
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  auto *rank = command->add_option("--rank", options->rank, "of this rank alone")->check(wholeNumber(0, UINT32_MAX));
  command->add_option("--at", options->at, "what comes of one line of the model, FILE:LINE")
      ->check(notEmpty())
      ->excludes(rank);
  options->plan.addTo(*command);
  options->timeline.addTo(*command);
  return [options] { return explain(*options); };
}
