// hocket check: every fault of model, recipe, plans in one run.
#include "passes/Schedule/Problem.h"
#include "passes/Schedule/RowGraph.h"
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/CheckSchedule.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/MemoryLimit.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
struct CheckOptions {
  ModelFile model;
  std::string format = "text";
  PlanFlags plan;
  ScheduleCheck alone;
};

/// Every program under a limit must fit into it. `programs` is null where faults left none: said, since nothing is then
/// told of its memory.
void checkMemory(Session &session, PlanChoice choice, ModuleOp programs, std::optional<uint64_t> limitBytes) {
  if (!limitBytes)
    return;
  if (!programs) {
    fmt::print(stderr, "note: memory is not judged under plan {}: its faults leave no program to plan\n",
               choice.plan.getSymName().str());
    return;
  }
  if (auto program = step::buildProgram(programs, {}))
    fitsInto(session, *program, limitBytes);
}

nlohmann::ordered_json json(const Session &session, size_t plans) {
  nlohmann::ordered_json out{{"plans", plans}, {"faults", nlohmann::json::array()}};
  for (const Session::Fault &fault : session.faults()) {
    nlohmann::ordered_json notes = nlohmann::json::array();
    for (const Session::Message &note : fault.notes)
      notes.push_back({{"place", note.place}, {"text", note.text}});
    out["faults"].push_back({{"place", fault.place}, {"text", fault.text}, {"notes", notes}});
  }
  return out;
}

/// --schedule without a model.
int checkAlone(const CheckOptions &options) {
  ScheduleCheck alone = options.alone;
  alone.schedule = options.plan.schedule.value_or("");
  alone.json = options.format == "json";
  if (auto chunks = options.plan.chunks)
    alone.chunks = uint32_t(*chunks);
  return checkSchedule(alone);
}

/// A schedule alone and a model each have flags of their own.
void addRules(CLI::App &command, run::FlagRules &rules) {
  for (const char *flag : {"--plan", "--mesh", "--set", "--memory", "--max-implicit-comm"})
    rules.belongs(command, flag, {"MODEL"});
  for (const char *flag : {"--stages", "--microbatches", "--max-in-flight", "--print"})
    rules.apart(command, flag, {"MODEL"});
  rules.apart(command, "--print", {"--format=json"});
  rules.look(command, [](const run::GivenWords &given, std::vector<std::string> &faults) {
    bool model = given.has("MODEL");
    if (!model && !given.has("--schedule"))
      faults.push_back("MODEL or --schedule is required");
    if (!model && given.has("--schedule"))
      namedScheduleFaults(given, faults);
    for (const char *flag : {"--schedule", "--chunks"})
      if (model && given.has(flag) && !given.has("--mesh"))
        faults.push_back(fmt::format("{} beside a model has no effect without --mesh", given.text(flag)));
  });
}

void semanticsFaults(const std::string &text, std::vector<std::string> &faults) {
  schedule::Faults found;
  if (!schedule::parseSemantics(text, found))
    for (const schedule::Fault &fault : found)
      faults.push_back(fault.text);
}

PlanFlags judgedBy(const CheckOptions &options) {
  PlanFlags flags = options.plan;
  flags.semantics = options.alone.semantics.value_or("");
  return flags;
}

int check(const CheckOptions &options) {
  if (options.model.path.empty())
    return checkAlone(options);
  Session session;
  std::vector<PlanChoice> choices;
  if (loadModel(session, options.model))
    choices = checkFile(session, judgedBy(options), [&](const PlanChoice &choice, ModuleOp programs) {
      checkMemory(session, choice, programs, options.plan.memory);
    });
  if (options.format == "json") {
    fmt::print("{}\n", json(session, choices.size()).dump(2));
  } else if (!session.errors()) {
    fmt::print("{}: no fault; {} plan{} checked\n", options.model.path, choices.size(), choices.size() == 1 ? "" : "s");
  }
  if (session.errors())
    fmt::print(stderr, "{}: {} fault{}\n", options.model.path, session.errors(), session.errors() == 1 ? "" : "s");
  return session.errors() ? session.failure() : Done;
}
} // namespace

Command hocket::tools::addCheck(CLI::App &app, run::FlagRules &rules) {
  auto options = std::make_shared<CheckOptions>();
  auto *command = app.add_subcommand("check", "verify only: every fault of model, recipe and plan in one run");
  options->model.addTo(*command, rules, /*required=*/false);
  command->add_option("--format", options->format, "text or json")->check(oneOf({"text", "json"}));
  addMemoryFlag(*command, options->plan.memory, "; a plan that needs more is at fault");
  options->plan.addTo(*command, rules, /*scheduleAlone=*/true);
  ScheduleCheck &alone = options->alone;
  auto number = wholeNumber(1, schedule::maxMicrobatches);
  command->add_option("--stages", alone.stages, "without a model: stages of the schedule")
      ->check(wholeNumber(1, schedule::maxVirtualStages));
  command->add_option("--microbatches", alone.microbatches, "without a model: microbatches of a step")->check(number);
  command->add_option("--max-in-flight", alone.maxInFlight, "without a model: most that a stage may hold")
      ->check(number);
  command->add_flag("--print", alone.print,
                    "without a model: the schedule as a table, as a file for `schedule file(…)`");
  command
      ->add_option("--semantics", alone.semantics,
                   "when a send is finished: rendezvous, nccl, nccl:R, buffered:K (rendezvous)")
      ->check(withFaults(semanticsFaults));
  addRules(*command, rules);
  return [options] { return check(*options); };
}
