// See CheckSchedule.h.
#include "tools/hocket/CheckSchedule.h"
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Simulator.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Schedule/TableText.h"
#include "passes/Schedule/UserSchedule.h"
#include "runtime/Launch/Counted.h"
#include "tools/hocket/InputText.h"
#include "tools/hocket/Session.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
using namespace hocket;
using namespace hocket::tools;

namespace {
constexpr std::string_view filePrefix = "file:";

/// The path of `file:PATH`, or the word itself.
std::string fileOf(const std::string &schedule) {
  return schedule.starts_with(filePrefix) ? schedule.substr(filePrefix.size()) : schedule;
}

bool isName(const std::string &schedule) {
  return std::any_of(schedule::solvers().begin(), schedule::solvers().end(),
                     [&](const schedule::Solver &solver) { return schedule == solver.name; });
}

/// One of ours, for the sizes given, which namedScheduleFaults has seen.
std::optional<schedule::UserSchedule> solveNamed(const ScheduleCheck &options, schedule::Faults &faults) {
  schedule::Problem problem;
  problem.stages = *options.stages;
  problem.microbatches = *options.microbatches;
  problem.chunks = options.chunks.value_or(1);
  problem.maxInFlight = options.maxInFlight.value_or(0);
  problem.begin = problem.update = options.print; // a table to run has them, and figures are of bodies alone
  if (!schedule::check(problem, faults) ||
      !schedule::adopt(options.schedule, problem, faults, options.chunks.has_value()))
    return std::nullopt;
  problem.times = {schedule::Times{.backward = problem.splitWeightGrad ? 1.0 : 2.0}};
  auto tables = schedule::solve(options.schedule, problem, faults);
  return tables ? std::optional(schedule::UserSchedule{problem, std::move(*tables)}) : std::nullopt;
}

std::optional<schedule::UserSchedule> readFile(const ScheduleCheck &options, schedule::Faults &faults) {
  std::string why;
  std::optional<std::string> text = readInput(fileOf(options.schedule), why);
  if (!text) {
    schedule::Faults names;
    schedule::findSolver(options.schedule, names);
    std::string noName = names.empty() ? "" : "; and it is none of our names: " + names[0].text;
    faults.push_back(
        {fmt::format("cannot read it: {}{}", why, options.schedule.starts_with(filePrefix) ? "" : noName), {}});
    return std::nullopt;
  }
  auto schedule = schedule::readSchedule(*text, /*wholeStep=*/false, faults);
  if (!schedule)
    return std::nullopt;
  auto same = [&](const char *what, uint64_t found, std::optional<uint32_t> wanted, const char *flag) {
    if (wanted && found != *wanted)
      faults.push_back({fmt::format("it is for {} {}, {} says {}", found, what, flag, *wanted), {}});
  };
  same("stages", schedule->tables.stages.size(), options.stages, "--stages");
  same("microbatches", schedule->tables.microbatches, options.microbatches, "--microbatches");
  same("chunks a stage", schedule->tables.chunks, options.chunks, "--chunks");
  if (schedule->tables.piece && options.maxInFlight)
    faults.push_back({fmt::format("--max-in-flight {} has no effect on a piece of a step, of which the messages alone "
                                  "are judged",
                                  *options.maxInFlight),
                      {}});
  schedule->problem.maxInFlight = options.maxInFlight.value_or(0);
  schedule->problem.times = {schedule::Times{.backward = schedule->problem.splitWeightGrad ? 1.0 : 2.0}};
  return schedule;
}

/// What was judged, in one line.
std::string sizesText(const schedule::Tables &tables) {
  return fmt::format("{}, {} a stage, {}", run::counted(tables.stages.size(), "stage"),
                     run::counted(tables.chunks, "chunk"), run::counted(tables.microbatches, "microbatch"));
}

void printJson(const ScheduleCheck &options, const std::optional<schedule::UserSchedule> &schedule,
               const schedule::Faults &faults) {
  nlohmann::ordered_json out{{"schedule", fileOf(options.schedule)},
                             {"semantics", options.semantics.value_or("rendezvous")}};
  if (schedule) {
    out["stages"] = schedule->tables.stages.size();
    out["chunks"] = schedule->tables.chunks;
    out["microbatches"] = schedule->tables.microbatches;
    out["whole_step"] = !schedule->tables.piece;
  }
  out["faults"] = nlohmann::json::array();
  for (const schedule::Fault &fault : faults)
    out["faults"].push_back({{"text", fault.text}, {"notes", fault.notes}});
  fmt::print("{}\n", out.dump(2));
}
} // namespace

void hocket::tools::namedScheduleFaults(const run::GivenWords &given, std::vector<std::string> &faults) {
  std::string name = given.values("--schedule").front();
  if (name == filePrefix)
    return faults.push_back("--schedule: 'file:' names no file behind ':'");
  if (!isName(name)) {
    // A path says so itself; a bare word that is no file is a name that nobody has.
    schedule::Faults unknown;
    if (!name.empty() && name.find_first_of("/.:") == std::string::npos && !std::filesystem::exists(name))
      schedule::findSolver(name, unknown);
    for (const schedule::Fault &fault : unknown)
      faults.push_back(fmt::format("--schedule: no file '{}', and {}", name, fault.text));
    return;
  }
  bool sound = true;
  auto number = [&](const char *flag, uint32_t most) -> std::optional<uint32_t> {
    if (!given.has(flag))
      return std::nullopt;
    std::string text = given.values(flag).front();
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && end == text.data() + text.size();
    sound &= whole && value >= 1 && value <= most; // else the flag's own check tells
    return value;
  };
  schedule::Problem problem;
  auto stages = number("--stages", schedule::maxVirtualStages), chunks = number("--chunks", schedule::maxChunks);
  auto microbatches = number("--microbatches", schedule::maxMicrobatches);
  if (!stages || !microbatches)
    faults.push_back(
        fmt::format("--schedule {} is a schedule of any size; --stages and --microbatches say which", name));
  problem.stages = stages.value_or(1);
  problem.microbatches = microbatches.value_or(1);
  problem.chunks = chunks.value_or(1);
  schedule::Faults found;
  if (sound && schedule::check(problem, found))
    schedule::adopt(name, problem, found, chunks.has_value());
  for (const schedule::Fault &fault : found)
    faults.push_back(fault.text);
}

int hocket::tools::checkSchedule(const ScheduleCheck &options) {
  std::string shown = fileOf(options.schedule);
  schedule::Faults faults;
  std::string sends = options.semantics.value_or("rendezvous");
  auto semantics = schedule::parseSemantics(sends, faults);
  auto schedule = isName(options.schedule) ? solveNamed(options, faults) : readFile(options, faults);
  if (schedule && faults.empty())
    faults = schedule::judge(*schedule, *semantics);
  if (options.json && !options.print)
    printJson(options, schedule, faults);
  for (const schedule::Fault &fault : faults) {
    fmt::print(stderr, "{}: error: {}\n", shown, fault.text);
    for (const std::string &note : fault.notes)
      fmt::print(stderr, "{}: note: {}\n", shown, note);
  }
  if (!faults.empty()) {
    fmt::print(stderr, "{}: {} with {} sends\n", shown, run::counted(faults.size(), "fault"), sends);
    return InputAtFault;
  }
  if (options.print)
    fmt::print("{}", schedule::printTables(schedule->tables));
  if (options.json || options.print)
    return Done;
  const char *verdict = schedule->tables.piece ? "a piece of a step: its messages match and nobody waits for ever"
                                               : "every layer runs once, and nobody waits for ever";
  fmt::print("{}: {}; {}, with {} sends\n", shown, sizesText(schedule->tables), verdict, sends);
  if (!schedule->tables.piece)
    if (auto simulation = schedule::simulate(schedule->problem, schedule->tables, *semantics, faults))
      fmt::print("a whole backward taken as twice a forward: {}\n", schedule::summary(*simulation));
  return Done;
}
