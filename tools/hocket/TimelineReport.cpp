// See TimelineReport.h.
#include "tools/hocket/TimelineReport.h"
#include "passes/Schedule/IdleTime.h"
#include "passes/Schedule/Timeline.h"
#include "passes/Schedule/TimelineFiles.h"
#include "runtime/Program/Mesh.h"
#include "tools/CommandLine.h"
#include "tools/hocket/TraceTimes.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

constexpr std::pair<const char *, double schedule::Times::*> timeNames[] = {
    {"begin", &schedule::Times::begin},          {"forward", &schedule::Times::forward},
    {"backward", &schedule::Times::backward},    {"weight_grad", &schedule::Times::weightGrad},
    {"recompute", &schedule::Times::recompute},  {"update", &schedule::Times::update},
    {"message", &schedule::Times::communication}};

/// Beyond these, sums of a step's times lose the short ones, and end at infinity.
constexpr double shortest = 1e-9, longest = 1e9;

/// "forward=1,backward=2"; what is not named keeps its time. `given`: the names, in order.
void readTimes(const std::string &text, schedule::Times &times, std::vector<std::string> &given,
               std::vector<std::string> &faults) {
  std::vector<std::string> known;
  for (auto &[name, member] : timeNames)
    known.push_back(name);
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    size_t equals = std::min(part.find('='), part.size());
    std::string name = part.substr(0, equals);
    double value = -1;
    const char *begin = part.data() + std::min(equals + 1, part.size()), *end = part.data() + part.size();
    auto [rest, error] = std::from_chars(begin, end, value);
    auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      faults.push_back(fmt::format("unknown time '{}'; known: {}{}", name, fmt::join(known, ", "),
                                   schedule::didYouMean(name, known)));
    else if (error != std::errc() || rest != end || !(value == 0 || (value >= shortest && value <= longest)))
      faults.push_back(fmt::format("'{}' is not {}=NUMBER with a number that is 0, or from 1e-9 to 1e9", part, name));
    else if (std::find(given.begin(), given.end(), name) != given.end())
      faults.push_back(fmt::format("'{}' gives a second {}; give it once", part, name));
    else
      times.*timeNames[found - known.begin()].second = value;
    if (found != known.end())
      given.push_back(name);
  }
}

/// The names of times that the step has something of.
std::vector<std::string> namesThatAct(const schedule::Tables &tables) {
  std::array<bool, schedule::bodyKinds> kinds{};
  for (const schedule::Table &table : tables.stages)
    for (const schedule::Row &row : table.rows)
      if (row.kind == schedule::RowKind::Body)
        kinds[unsigned(schedule::bodyKind(row))] = true;
  std::vector<std::string> names;
  for (auto &[name, member] : timeNames) {
    bool acts = member == &schedule::Times::communication && !tables.messages.empty();
    for (unsigned kind = 0; kind < schedule::scheduledKinds; ++kind) {
      schedule::Times only{.forward = 0, .backward = 0, .weightGrad = 0};
      only.*member = 1;
      acts |= kinds[kind] && only.of(schedule::BodyKind(kind)) > 0;
    }
    if (acts)
      names.push_back(name);
  }
  return names;
}

/// What is wrong with times that can be read, for this step. False after a report.
bool fitTimes(Session &session, const ProgramTables &step, const schedule::Times &times,
              const std::vector<std::string> &given) {
  std::vector<std::string> acting = namesThatAct(step.tables);
  for (const std::string &name : given)
    if (std::find(acting.begin(), acting.end(), name) == acting.end())
      session.commandLineError(fmt::format("--times: no row of this plan's step takes time for {}{}; legal: {}", name,
                                           name == "recompute" ? " (what is made again is part of backward)" : "",
                                           fmt::join(acting, ", ")));
  if (std::all_of(acting.begin(), acting.end(), [&](const std::string &name) {
        return std::all_of(std::begin(timeNames), std::end(timeNames),
                           [&](auto &known) { return name != known.first || times.*known.second == 0; });
      }))
    session.commandLineError(
        fmt::format("--times: all of a step takes 0; at least one of {} must be above 0", fmt::join(acting, ", ")));
  return !session.errors();
}

/// Stages with their idle time by cause, in per cent of the makespan.
std::string idleText(const schedule::Tables &tables, const schedule::Simulation &simulation) {
  std::string out = fmt::format("{:<10} {:>7}", "  idle, %", "busy");
  for (unsigned cause = 0; cause < schedule::idleCauses; ++cause)
    out += fmt::format("  {}", schedule::name(schedule::IdleCause(cause)));
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    auto sums = schedule::sumByCause(schedule::idleTimes(tables, s, simulation));
    double idle = 0;
    for (double sum : sums)
      idle += sum;
    out += fmt::format("\n  {:<8} {:>7.1f}", fmt::format("stage {}", s), 100 * (1 - idle / simulation.makespan));
    for (unsigned cause = 0; cause < schedule::idleCauses; ++cause)
      out += fmt::format("  {:>{}.1f}", 100 * sums[cause] / simulation.makespan,
                         std::string_view(schedule::name(schedule::IdleCause(cause))).size());
  }
  return out + "\n";
}

std::string measuredText(const TraceTimes &trace) {
  uint32_t cores = trace.machine.cores();
  std::string out = fmt::format("\nmeasured over {} step{}: {:.0f} us a step; simulated from its kernels' processor "
                                "times, {} ranks on {} core{}: {:.0f} us ({:+.1f} %)\n",
                                trace.steps, trace.steps == 1 ? "" : "s", trace.stepMicroseconds, trace.ranks.size(),
                                cores, cores == 1 ? "" : "s", trace.onMachineMicroseconds,
                                100 * (trace.onMachineMicroseconds / trace.stepMicroseconds - 1));
  out += "  a rank's step, %   busy  in collectives";
  for (unsigned cause = 0; cause < schedule::idleCauses; ++cause)
    out += fmt::format("  {}", schedule::name(schedule::IdleCause(cause)));
  for (const TraceTimes::Rank &rank : trace.ranks) {
    auto share = [&](double time) { return 100 * time / trace.stepMicroseconds; };
    out += fmt::format("\n  rank {:<4} stage {:<3} {:>5.1f}  {:>14.1f}", rank.rank, rank.stage, share(rank.busy),
                       share(rank.inCollectives));
    for (unsigned cause = 0; cause < schedule::idleCauses; ++cause)
      out += fmt::format("  {:>{}.1f}", share(rank.idle[cause]),
                         std::string_view(schedule::name(schedule::IdleCause(cause))).size());
  }
  return out + "\n";
}

nlohmann::ordered_json idleJson(const std::array<double, schedule::idleCauses> &sums) {
  nlohmann::ordered_json out;
  for (unsigned cause = 0; cause < schedule::idleCauses; ++cause)
    out[schedule::name(schedule::IdleCause(cause))] = sums[cause];
  return out;
}

nlohmann::ordered_json timelineJson(const ProgramTables &step, const schedule::Simulation &simulation,
                                    const std::optional<TraceTimes> &trace) {
  nlohmann::ordered_json out{{"makespan", simulation.makespan},
                             {"stage_span", simulation.stageSpan},
                             {"bubble_of_total", simulation.bubbleOfTotal()},
                             {"bubble_of_ideal", simulation.bubbleOfIdeal()},
                             {"span_bubble_of_total", simulation.spanBubbleOfTotal()},
                             {"span_bubble_of_ideal", simulation.spanBubbleOfIdeal()}};
  for (uint32_t s = 0; s < step.tables.stages.size(); ++s)
    out["stages"].push_back(
        {{"busy", simulation.busyOfStage[s]},
         {"in_flight", simulation.inFlightOfStage[s]},
         {"idle", idleJson(schedule::sumByCause(schedule::idleTimes(step.tables, s, simulation)))}});
  if (!trace)
    return out;
  out["measured"] = {{"steps", trace->steps},
                     {"step_microseconds", trace->stepMicroseconds},
                     {"simulated_microseconds", trace->onMachineMicroseconds},
                     {"cores", trace->machine.cores()}};
  for (const TraceTimes::Rank &rank : trace->ranks)
    out["measured"]["ranks"].push_back({{"rank", rank.rank},
                                        {"stage", rank.stage},
                                        {"busy", rank.busy},
                                        {"in_collectives", rank.inCollectives},
                                        {"idle", idleJson(rank.idle)}});
  return out;
}

/// Processes named as a run's trace names them, by the first rank of each stage.
schedule::TimelineNames namesOf(const program::ProgramT &program, bool microseconds) {
  std::vector<program::Mesh::Axis> axes;
  for (auto &axis : program.axes)
    axes.push_back({axis->name, axis->size});
  program::Mesh mesh(std::move(axes));
  schedule::TimelineNames names;
  names.microseconds = microseconds ? 1 : 1000;
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
    if ((program.stageAxis < 0 ? 0 : mesh.coordinates(rank)[program.stageAxis]) == names.ids.size()) {
      names.ids.push_back(rank);
      names.processes.push_back(fmt::format("rank {} ({})", rank, mesh.text(rank)));
    }
  return names;
}
} // namespace

void TimelineFlags::addTo(CLI::App &command) {
  auto *timeline = command
                       .add_flag("--timeline{text}", form,
                                 "a step over time and why ranks stand idle, simulated: text, svg or chrome (for "
                                 "chrome://tracing and Perfetto)")
                       ->check(oneOf({"text", "svg", "chrome"}));
  for (const char *other : {"--rank", "--at"})
    timeline->excludes(command.get_option(other));
  command
      .add_option(
          "--times", times,
          "of the timeline: forward=1,backward=2,weight_grad=1,recompute=0,begin=0,update=0,message=0, or a trace "
          "that hocket-run --trace wrote of this plan")
      ->needs(timeline)
      ->check(notEmpty())
      ->check(withFaults([](const std::string &text, std::vector<std::string> &faults) {
        std::vector<std::string> given;
        if (schedule::Times unused; text.find('=') != std::string::npos)
          readTimes(text, unused, given, faults);
      }));
}

bool hocket::tools::explainTimeline(Session &session, const program::ProgramT &program, const TimelineFlags &flags,
                                    bool json) {
  ProgramTables step = tablesOf(program);
  schedule::Times times = unitTimes(step.problem);
  std::optional<TraceTimes> trace;
  if (flags.times.find('=') != std::string::npos) {
    std::vector<std::string> given, told;
    readTimes(flags.times, times, given, told);
    if (!fitTimes(session, step, times, given))
      return false;
  } else if (!flags.times.empty()) {
    std::string fault;
    trace = readTrace(program, step, flags.times, fault);
    if (!trace) {
      session.error(fmt::format("--times: {}", fault));
      return false;
    }
  }
  step.problem.times = trace ? trace->times : std::vector<schedule::Times>{times};
  schedule::Faults faults;
  auto simulation = schedule::simulate(step.problem, step.tables, {}, faults);
  for (const schedule::Fault &fault : faults)
    session.error(fault.text);
  if (!simulation)
    return false;
  if (json) {
    fmt::print("{}\n", timelineJson(step, *simulation, trace).dump(2));
  } else if (flags.form == "chrome") {
    fmt::print("{}", schedule::chromeTimeline(step.tables, *simulation, namesOf(program, trace.has_value())));
  } else if (flags.form == "svg") {
    fmt::print("{}", schedule::svgTimeline(step.tables, *simulation));
  } else {
    schedule::TimelineOptions options;
    options.columns = 150;
    fmt::print("schedule {}: {}\n{}{}{}", program.schedule, schedule::summary(*simulation),
               schedule::renderTimeline(step.tables, *simulation, options), idleText(step.tables, *simulation),
               trace ? measuredText(*trace) : "");
  }
  return true;
}

std::string hocket::tools::timelineText(const program::ProgramT &program) {
  ProgramTables step = tablesOf(program);
  std::optional<schedule::Simulation> simulation = simulateUnits(step);
  if (!simulation)
    return "";
  std::string out = "\ntimeline, a whole backward taken as twice a forward: ";
  out += schedule::summary(*simulation) + "\n";
  if (simulation->makespan > 10'000)
    return out;
  schedule::TimelineOptions options;
  options.indent = "  ";
  options.unit = 1;
  return out + cutLines(schedule::renderTimeline(step.tables, *simulation, options), 200);
}
