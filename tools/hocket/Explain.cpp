// hocket explain: what every rank will hold, do and send.
#include "passes/Analysis/GpuFloor.h"
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/ActivationReport.h"
#include "tools/hocket/CallReport.h"
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/CudaKernels.h"
#include "tools/hocket/ExpertGroups.h"
#include "tools/hocket/ExplicitPlan.h"
#include "tools/hocket/GatherChoice.h"
#include "tools/hocket/KernelReport.h"
#include "tools/hocket/LineReport.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/MemoryLimit.h"
#include "tools/hocket/MemoryReport.h"
#include "tools/hocket/ShardingReport.h"
#include "tools/hocket/TimelineReport.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
struct ExplainOptions {
  ModelFile model;
  std::string format = "text", at;
  std::optional<uint32_t> rank;
  std::string target = "cpu", gpu;
  bool shardings = false, activations = false, kernels = false, calls = false;
  std::optional<uint64_t> memory;
  PlanFlags plan;
  TimelineFlags timeline;
};

bool rankIsThere(Session &session, PlanChoice &choice, std::optional<uint32_t> rank) {
  int64_t world = choice.mesh.getWorldSize();
  if (!rank || *rank < world)
    return true;
  session.error(
      fmt::format("--rank {}: the plan has {}, numbered from 0 to {}", *rank, run::counted(world, "rank"), world - 1));
  return false;
}

/// The forms that tell of a program for GPUs. Done, or how the command ends.
int explainGpu(Session &session, ModuleOp module, ModuleOp made, program::ProgramT &program,
               const ExplainOptions &options) {
  bool json = options.format == "json";
  if (options.calls) {
    json ? fmt::print("{}\n", callJson(program, options.rank).dump(2))
         : fmt::print("{}", callText(program, options.rank));
    return Done;
  }
  auto kernels = compileCudaKernels(session, module, made);
  if (!kernels)
    return session.errors() ? InputAtFault : MachineLacks;
  step::addGpuCode(program, *kernels);
  const analysis::Gpu *gpu = analysis::findGpu(options.gpu);
  KernelReport report = kernelReport(program, options.rank);
  json ? fmt::print("{}\n", kernelJson(report, program, gpu).dump(2))
       : fmt::print("{}", kernelText(report, program, gpu));
  return Done;
}

/// The report of all classes of ranks, or of one rank. `facts` are there where shardings or JSON are asked for.
int explainRanks(Session &session, Job &job, ModuleOp module, const program::ProgramT &program,
                 const std::optional<ShardingFacts> &facts, const ExplainOptions &options) {
  Report report = makeReport(program, options.rank);
  addTypesFrom(module, report);
  report.experts = expertGroups(session, job);
  if (facts)
    addRemedies(*facts, report);
  std::vector<StageActivations> activations;
  if (options.activations || job.choice.plan.tactic<dist::RecomputeOp>()) {
    auto steps = lower(session, job.choice, job.shape, Layer::Step);
    if (!steps)
      return InputAtFault;
    activations = activationsOf(*steps);
  }
  if (options.format == "json") {
    nlohmann::ordered_json out = reportJson(report, program);
    if (!activations.empty())
      out["activations"] = activationsJson(activations);
    out["tactics"] = tacticsJson(job);
    out["shardings"] = shardingJson(facts->values);
    addBreakdowns(module, report, out);
    fmt::print("{}\n", out.dump(2));
    return Done;
  }
  fmt::print("{}{}{}{}", reportText(report, program), activationsText(activations), breakdownText(module, report),
             foundTacticsText(job));
  if (options.shardings)
    fmt::print("{}", shardingText(*facts, report));
  return Done;
}

int explain(const ExplainOptions &options) {
  Session session;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job)
    return session.failure();
  if (options.plan.mesh.empty())
    findMegatronTactics(session, *job);
  job->choice.forGpu = options.target == "cuda";
  if (!chooseWithin(session, *job, options.memory, /*judges=*/false))
    return InputAtFault;
  PlanChoice &choice = job->choice;
  auto module = lower(session, choice, job->shape, Layer::Kernels);
  if (!module)
    return InputAtFault;
  adoptGather(*job, *module);
  OwningOpRef<ModuleOp> made = job->choice.forGpu ? emitCudaKernels(session, *module) : nullptr;
  if (job->choice.forGpu && !made)
    return InputAtFault;
  auto program = step::buildProgram(*module, {.target = options.target, .march = {}, .features = {}});
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
    return explainTimeline(session, *program, options.timeline, json) ? Done : session.failure();
  if (!rankIsThere(session, choice, options.rank))
    return InputAtFault;
  if (options.kernels || options.calls)
    return explainGpu(session, *module, *made, *program, options);
  return explainRanks(session, *job, *module, *program, facts, options);
}

std::string knownGpu(const std::string &name) {
  return analysis::findGpu(name) ? "" : fmt::format("unknown GPU '{}'; known: {}", name, analysis::gpuNames());
}

/// The forms of the report; one at a time.
void addRules(CLI::App &command, run::FlagRules &rules) {
  for (const char *form : {"--at", "--timeline", "--kernels", "--calls"})
    for (const char *part : {"--shardings", "--activations"})
      rules.apart(command, part, {form});
  for (const char *form : {"--kernels", "--calls"}) {
    rules.apart(command, form, {"--at", "--timeline"});
    rules.belongs(command, form, {"--target=cuda"});
  }
  rules.look(command, [](const run::GivenWords &given, std::vector<std::string> &faults) {
    for (const char *form : {"--timeline=svg", "--timeline=chrome"})
      if (given.has(form) && given.has("--format=json"))
        faults.push_back(fmt::format("{} and --format=json are two forms of one answer; give one of them", form));
  });
}
} // namespace

Command hocket::tools::addExplain(CLI::App &app, run::FlagRules &rules) {
  auto options = std::make_shared<ExplainOptions>();
  auto *command = app.add_subcommand(
      "explain", "per class of equal ranks: stage, layers, groups, memory, transfers and their causes");
  options->model.addTo(*command, rules);
  command->add_option("--format", options->format, "text or json")->check(oneOf({"text", "json"}));
  auto *rank = command->add_option("--rank", options->rank, "of this rank alone")->check(wholeNumber(0, UINT32_MAX));
  command->add_option("--at", options->at, "what comes of one line of the model, FILE:LINE")
      ->check(withFaults(lineFaults))
      ->excludes(rank);
  command->add_flag("--shardings", options->shardings,
                    "also where each value lives and which tactic put it there, and what would remove each transfer");
  command->add_flag("--activations", options->activations,
                    "also what is kept from forward to backward, op by op, and what is made again");
  command->add_option("--target", options->target, "what kernels are for: cpu or cuda (cpu)")
      ->check(oneOf({"cpu", "cuda"}));
  auto *kernels = command->add_flag("--kernels", options->kernels,
                                    "of --target=cuda: each kernel and product, what ptxas says of it, its bytes and "
                                    "FLOPs, and how often a step runs it");
  command->add_flag("--calls", options->calls, "of --target=cuda: the calls of NCCL in the order of issue")
      ->excludes(kernels);
  command
      ->add_option("--gpu", options->gpu,
                   "with --kernels also the least time of each on this GPU: " + analysis::gpuNames())
      ->needs(kernels)
      ->check(knownGpu);
  addMemoryFlag(*command, options->memory, ", for `recompute auto` and ZeRO-3 that leaves open when it gathers");
  options->plan.addTo(*command, rules);
  options->timeline.addTo(*command);
  addRules(*command, rules);
  return [options] { return explain(*options); };
}
