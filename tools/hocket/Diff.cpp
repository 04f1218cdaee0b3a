// hocket diff: what changes from one plan of a model to another.
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/ExplicitPlan.h"
#include "tools/hocket/MemoryLimit.h"
#include "tools/hocket/PlanTotals.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <set>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct DiffOptions {
  std::string plans[2], format = "text";
  ModelFile model;
  std::optional<uint64_t> memory;
};

/// Whether it would be the same fault under any plan.
bool ofFile(const Session::Fault &fault) {
  auto inFile = [](const Session::Message &message) {
    return !message.place.empty() && !llvm::StringRef(message.place).starts_with(planFromFlags);
  };
  return inFile(fault) && llvm::all_of(fault.notes, inFile);
}

/// A plan by name, or by its mesh (dp=2,tp=2): then one made from flags. Faults are reported; `loaded` says if they are
/// of the plan and not of a file that cannot be read; `open`: the plan leaves a choice to --memory.
std::optional<PlanTotals> totalsOfPlan(Session &session, const DiffOptions &options, const std::string &plan,
                                       bool &loaded, bool &open) {
  PlanFlags flags;
  (plan.find('=') == std::string::npos ? flags.plan : flags.mesh) = plan;
  std::optional<Job> job = openJob(session, options.model, flags);
  loaded = session.loaded();
  if (!job)
    return std::nullopt;
  open |= leavesChoice(*job);
  if (!chooseWithin(session, *job, options.memory, /*judges=*/true))
    return std::nullopt;
  auto module = lower(session, job->choice, job->shape, Layer::Kernels);
  auto program = module ? step::buildProgram(*module, {}) : std::nullopt;
  if (!program)
    return std::nullopt;
  PlanTotals totals = totalsOf(*program, makeReport(*program));
  totals.plan = plan;
  for (const auto &tactic : tacticsJson(*job))
    totals.tactics.push_back(tactic.get<std::string>());
  return totals;
}

/// "+12.00 KiB", "-1.50 MiB", "=".
std::string changeText(uint64_t a, uint64_t b) {
  if (a == b)
    return "=";
  std::string change = (a < b ? "+" : "-") + bytesText(a < b ? b - a : a - b);
  return a ? fmt::format("{} ({:+.1f} %)", change, (double(b) / double(a) - 1) * 100) : change;
}

std::string bytesRow(const std::string &name, uint64_t a, uint64_t b) {
  return fmt::format("  {:<34} {:>12} {:>12}   {}\n", name, bytesText(a), bytesText(b), changeText(a, b));
}

template <typename Map> auto keysOf(const Map &a, const Map &b) {
  std::set<typename Map::key_type> keys;
  for (auto &[key, value] : a)
    keys.insert(key);
  for (auto &[key, value] : b)
    keys.insert(key);
  return keys;
}
template <typename Map> typename Map::mapped_type valueOf(const Map &map, const typename Map::key_type &key) {
  auto at = map.find(key);
  return at == map.end() ? typename Map::mapped_type{} : at->second;
}
template <typename T> bool has(const std::vector<T> &list, const T &item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string collectivesText(const PlanTotals &a, const PlanTotals &b) {
  std::string gone, fresh, other;
  for (const std::string &key : keysOf(a.collectives, b.collectives)) {
    PlanTotals::Collective before = valueOf(a.collectives, key), after = valueOf(b.collectives, key);
    if (!after.count)
      gone += fmt::format("  - {} x {}: {}; {}\n", before.count, key, bytesText(before.bytes), before.cause);
    else if (!before.count)
      fresh += fmt::format("  + {} x {}: {}; {}\n", after.count, key, bytesText(after.bytes), after.cause);
    else if (before.count != after.count || before.bytes != after.bytes)
      other += fmt::format("  ~ {} -> {} x {}: {} -> {}\n", before.count, after.count, key, bytesText(before.bytes),
                           bytesText(after.bytes));
  }
  std::string all = gone + fresh + other;
  return "transfers, on one rank of each stage: - goes, + comes, ~ changes; times in a step, bytes of whole values\n" +
         (all.empty() ? "  the same\n" : all);
}

std::string text(const PlanTotals &a, const PlanTotals &b) {
  std::string out = fmt::format("{:<36} {:>12} {:>12}\n", "", a.plan, b.plan);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "mesh", a.mesh, b.mesh);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "ranks", a.ranks, b.ranks);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "microbatches", a.microbatches, b.microbatches);
  out += fmt::format("  {:<34} {:>12.4f} {:>12.4f}\n", "bubble of total (makespan)", a.bubbleOfTotal, b.bubbleOfTotal);
  out += fmt::format("  {:<34} {:>12.4f} {:>12.4f}\n", "bubble of ideal (work)", a.bubbleOfIdeal, b.bubbleOfIdeal);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "kernels", a.kernels, b.kernels);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "kernel runs of the busiest rank", a.launches, b.launches);
  out += fmt::format("  {:<34} {:>12} {:>12}\n", "products of the busiest rank", a.products, b.products);
  out += fmt::format("  {:<34} {:>12.4e} {:>12.4e}   {:+.1f} %\n", "operations of the busiest rank", double(a.flops),
                     double(b.flops), a.flops ? (double(b.flops) / double(a.flops) - 1) * 100 : 0.0);
  out += fmt::format("  {:<34} {:>12.4e} {:>12.4e}\n", "operations of all ranks", double(a.flopsOfAll),
                     double(b.flopsOfAll));
  out += "tactics: - goes, + comes\n";
  for (const std::string &tactic : a.tactics)
    out += has(b.tactics, tactic) ? "" : "  - " + tactic + "\n";
  for (const std::string &tactic : b.tactics)
    out += has(a.tactics, tactic) ? "" : "  + " + tactic + "\n";
  out += "memory of the rank that needs most\n" + bytesRow("in all", a.peakBytes, b.peakBytes);
  for (const std::string &name : keysOf(a.bytesByClass, b.bytesByClass))
    out += bytesRow(name, valueOf(a.bytesByClass, name), valueOf(b.bytesByClass, name));
  if (a.hostBytes || b.hostBytes)
    out += "the host's memory of the rank that needs most of it\n" + bytesRow("in all", a.hostBytes, b.hostBytes);
  for (const std::string &name : keysOf(a.hostBytesByClass, b.hostBytesByClass))
    out += bytesRow(name, valueOf(a.hostBytesByClass, name), valueOf(b.hostBytesByClass, name));
  out += "sent in a step by the rank that sends most, where rings are used\n";
  for (const auto &key : keysOf(a.sentMost, b.sentMost))
    out += bytesRow(key.second + " over " + key.first, valueOf(a.sentMost, key), valueOf(b.sentMost, key));
  out += "sent in a step by all ranks\n";
  for (const auto &key : keysOf(a.sentByAll, b.sentByAll))
    out += bytesRow(key.second + " over " + key.first, valueOf(a.sentByAll, key), valueOf(b.sentByAll, key));
  return out + collectivesText(a, b);
}

nlohmann::ordered_json sentJson(const std::map<std::pair<std::string, std::string>, uint64_t> &sent) {
  nlohmann::ordered_json out = nlohmann::json::array();
  for (auto &[key, bytes] : sent)
    out.push_back({{"axes", key.first}, {"op", key.second}, {"bytes", bytes}});
  return out;
}

nlohmann::ordered_json planJson(const PlanTotals &totals) {
  return {{"plan", totals.plan},
          {"mesh", totals.mesh},
          {"tactics", totals.tactics},
          {"ranks", totals.ranks},
          {"stages", totals.stages},
          {"microbatches", totals.microbatches},
          {"schedule", totals.schedule},
          {"bubble_of_total", totals.bubbleOfTotal},
          {"bubble_of_ideal", totals.bubbleOfIdeal},
          {"peak_bytes", totals.peakBytes},
          {"bytes_by_class", totals.bytesByClass},
          {"host_bytes", totals.hostBytes},
          {"host_bytes_by_class", totals.hostBytesByClass},
          {"sent_most", sentJson(totals.sentMost)},
          {"sent_by_all", sentJson(totals.sentByAll)},
          {"kernels", totals.kernels},
          {"kernel_runs", totals.launches},
          {"products", totals.products},
          {"flops_most", totals.flops},
          {"flops_of_all", totals.flopsOfAll}};
}

nlohmann::ordered_json json(const PlanTotals &a, const PlanTotals &b) {
  nlohmann::ordered_json out{{"plans", {planJson(a), planJson(b)}}, {"transfers", nlohmann::json::array()}};
  for (const std::string &key : keysOf(a.collectives, b.collectives)) {
    PlanTotals::Collective before = valueOf(a.collectives, key), after = valueOf(b.collectives, key);
    if (before.count == after.count && before.bytes == after.bytes)
      continue;
    out["transfers"].push_back({{"what", key},
                                {"change", !after.count    ? "goes"
                                           : !before.count ? "comes"
                                                           : "changes"},
                                {"count", {before.count, after.count}},
                                {"bytes", {before.bytes, after.bytes}},
                                {"cause", after.count ? after.cause : before.cause}});
  }
  return out;
}

int diff(const DiffOptions &options) {
  std::optional<PlanTotals> totals[2];
  bool loaded = true, open = false;
  std::vector<Session::Fault> told;
  Status failure = InputAtFault;
  for (int i = 0; i < 2 && loaded; ++i) { // faults of both plans in one run
    Session session;
    session.haveTold(told);
    totals[i] = totalsOfPlan(session, options, options.plans[i], loaded, open);
    failure = std::max(failure, session.failure());
    llvm::copy_if(session.faults(), std::back_inserter(told),
                  [&](const Session::Fault &fault) { return options.plans[0] == options.plans[1] || ofFile(fault); });
  }
  if (!totals[0] || !totals[1])
    return failure;
  if (options.memory && !open) {
    fmt::print(
        stderr,
        "error: --memory {} has no effect: neither plan has `recompute auto`, or a zero 3 that leaves open when it "
        "gathers\n",
        *options.memory);
    return InputAtFault;
  }
  if (options.format == "json")
    fmt::print("{}\n", json(*totals[0], *totals[1]).dump(2));
  else
    fmt::print("{}", text(*totals[0], *totals[1]));
  return Done;
}
} // namespace

Command hocket::tools::addDiff(CLI::App &app, run::FlagRules &rules) {
  auto options = std::make_shared<DiffOptions>();
  auto *command = app.add_subcommand(
      "diff", "from one plan to another: bytes by axes and kind, bubble, memory, transfers that come and go");
  for (auto [index, name] : {std::pair(0, "PLAN_A"), {1, "PLAN_B"}})
    command
        ->add_option(name, options->plans[index],
                     "name of a plan of the file, or a mesh (dp=2,tp=2) for one made from flags")
        ->required()
        ->check(notEmpty())
        ->check(withFaults([](const std::string &plan, std::vector<std::string> &faults) {
          if (plan.find('=') != std::string::npos)
            meshFaults(plan, faults);
        }));
  options->model.addTo(*command, rules);
  command->add_option("--format", options->format, "text or json")->check(oneOf({"text", "json"}));
  addMemoryFlag(*command, options->memory,
                " under either plan, for `recompute auto` and ZeRO-3 that leaves open when it gathers");
  return [options] { return diff(*options); };
}
