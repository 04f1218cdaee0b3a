// hocket explain: what every rank will hold, do and send.
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Launch/Counted.h"
#include "tools/CommandLine.h"
#include "tools/hocket/ActivationReport.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/ExpertGroups.h"
#include "tools/hocket/ExplicitPlan.h"
#include "tools/hocket/GatherChoice.h"
#include "tools/hocket/LineReport.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/MemoryLimit.h"
#include "tools/hocket/MemoryReport.h"
#include "tools/hocket/RecomputeChoice.h"
#include "tools/hocket/ShardingReport.h"
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
  bool shardings = false, activations = false;
  std::optional<uint64_t> memory;
  PlanFlags plan;
  TimelineFlags timeline;
};

int explain(const ExplainOptions &options) {
  Session session;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job)
    return InputAtFault;
  if (options.plan.mesh.empty())
    findMegatronTactics(session, *job);
  if (!chooseRecompute(session, *job, options.memory))
    return InputAtFault;
  PlanChoice &choice = job->choice;
  auto module = lower(session, choice, job->shape, Layer::Kernels);
  if (!module)
    return InputAtFault;
  adoptGather(*job, *module);
  auto program = step::buildProgram(*module, {});
  if (!program)
    return InputAtFault;
  std::optional<ShardingFacts> facts;
  bool json = options.format == "json";
  if (json || options.shardings || !options.at.empty()) {
    facts = findShardings(session, *job);
    if (!facts)
      return InputAtFault;
  }
  if (!options.at.empty())
    return explainLine(session, *program, *facts, options.at, json) ? Done : InputAtFault;
  if (!options.timeline.form.empty())
    return explainTimeline(session, *program, options.timeline, json) ? Done : InputAtFault;
  int64_t world = choice.mesh.getWorldSize();
  if (options.rank && *options.rank >= world) {
    session.error(fmt::format("--rank {}: the plan has {}, numbered from 0 to {}", *options.rank,
                              run::counted(world, "rank"), world - 1));
    return InputAtFault;
  }
  Report report = makeReport(*program, options.rank);
  addTypesFrom(*module, report);
  report.experts = expertGroups(session, *job);
  if (facts)
    addRemedies(*facts, report);
  std::vector<StageActivations> activations;
  if (options.activations || choice.plan.tactic<dist::RecomputeOp>()) {
    auto steps = lower(session, choice, job->shape, Layer::Step);
    if (!steps)
      return InputAtFault;
    activations = activationsOf(*steps);
  }
  if (json) {
    nlohmann::ordered_json out = reportJson(report, *program);
    if (!activations.empty())
      out["activations"] = activationsJson(activations);
    out["tactics"] = tacticsJson(*job);
    out["shardings"] = shardingJson(facts->values);
    addBreakdowns(*module, report, out);
    fmt::print("{}\n", out.dump(2));
    return Done;
  }
  fmt::print("{}", reportText(report, *program));
  fmt::print("{}", activationsText(activations));
  fmt::print("{}", breakdownText(*module, report));
  fmt::print("{}", foundTacticsText(*job));
  if (options.shardings)
    fmt::print("{}", shardingText(*facts, report));
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
  command->add_flag("--shardings", options->shardings,
                    "also where each value lives and which tactic put it there, and what would remove each transfer");
  command->add_flag("--activations", options->activations,
                    "also what is kept from forward to backward, op by op, and what is made again");
  addMemoryFlag(*command, options->memory, ", for `recompute auto`");
  options->plan.addTo(*command);
  options->timeline.addTo(*command);
  return [options] { return explain(*options); };
}
