// See RecomputeChoice.h.
#include "tools/hocket/RecomputeChoice.h"
#include "tools/hocket/CudaKernels.h"
#include "tools/hocket/GatherChoice.h"
#include "tools/hocket/RecomputePrices.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
struct Auto {
  Location loc;
  std::optional<std::string> pattern;
  std::string text() const { return "recompute " + (pattern ? "\"" + *pattern + "\" " : std::string()) + "auto"; }
};

std::vector<Auto> takeAutos(dist::PlanOp plan) {
  std::vector<Auto> autos;
  for (auto tactic : llvm::make_early_inc_range(plan.getBody().front().getOps<dist::RecomputeOp>()))
    if (tactic.getKind() == dist::Recompute::Auto) {
      auto pattern = tactic.getPattern();
      autos.push_back({tactic.getLoc(), pattern ? std::optional(pattern->str()) : std::nullopt});
      tactic.erase();
    }
  return autos;
}

/// The options of one stage with which it fits, of those that need at most `extra` beside the slots. None if nothing
/// does.
std::optional<std::vector<unsigned>> chooseFor(const StagePrices &stage, int64_t limit, int64_t extra) {
  int64_t need = static_cast<int64_t>(stage.peakBytes) + extra - limit;
  std::vector<std::vector<UnitChoice>> units;
  for (const RecomputeUnit &unit : stage.units) {
    units.emplace_back();
    for (const UnitOption &option : unit.options)
      units.back().push_back(option.extraBytes > extra ? UnitChoice() : option.price);
  }
  int64_t slots = std::max<int64_t>(stage.slots, 1);
  auto chosen = cheapestChoices(units, need <= 0 ? 0 : static_cast<uint64_t>((need + slots - 1) / slots));
  for (size_t i = 0; chosen && i < chosen->size(); ++i) // what was not allowed was nothing
    if (stage.units[i].options[(*chosen)[i]].extraBytes > extra)
      (*chosen)[i] = 0;
  return chosen;
}

uint64_t flopsOf(const StagePrices &stage, const std::vector<unsigned> &chosen) {
  uint64_t flops = 0;
  for (size_t i = 0; i < chosen.size(); ++i)
    flops += stage.units[i].options[chosen[i]].price.flops;
  return flops;
}

struct Chooser {
  Session &session;
  Job &job;
  std::vector<Auto> autos;
  uint64_t limit;
  std::vector<StagePrices> stages = {};
  std::map<uint32_t, std::vector<unsigned>> chosen = {}; ///< by stage
  std::map<uint32_t, int64_t> corrections = {};          ///< bytes that a prediction was short of
  std::set<uint32_t> dearestLast = {};                   ///< stages that did not fit with the first units made again
  std::vector<std::string> texts = {};

  bool chooseStage(const StagePrices &stage) {
    if (stage.peakBytes <= limit) {
      chosen[stage.stage].assign(stage.units.size(), 0);
      return true;
    }
    std::set<int64_t> extras{0};
    for (const RecomputeUnit &unit : stage.units)
      for (const UnitOption &option : unit.options)
        extras.insert(std::max<int64_t>(0, option.extraBytes));
    std::optional<std::vector<unsigned>> best;
    for (int64_t extra : extras)
      if (auto found = chooseFor(stage, static_cast<int64_t>(limit) - corrections[stage.stage], extra);
          found && (!best || flopsOf(stage, *found) < flopsOf(stage, *best)))
        best = found;
    if (!best)
      return false;
    std::vector<std::vector<UnitChoice>> units;
    for (const RecomputeUnit &unit : stage.units) {
      units.emplace_back();
      for (const UnitOption &option : unit.options)
        units.back().push_back(option.price);
    }
    arrangeAlike(units, !dearestLast.count(stage.stage), *best);
    chosen[stage.stage] = *best;
    return true;
  }

  void reportMisfit(const StagePrices &stage) {
    uint64_t saved = 0, least = stage.peakBytes;
    int64_t extra = 0;
    for (const RecomputeUnit &unit : stage.units) {
      auto most = std::max_element(unit.options.begin(), unit.options.end(),
                                   [](auto &a, auto &b) { return a.price.savedBytes < b.price.savedBytes; });
      saved += most->price.savedBytes * stage.slots;
      extra = std::max(extra, most->extraBytes);
    }
    least = least + static_cast<uint64_t>(extra) > saved ? least + static_cast<uint64_t>(extra) - saved : 0;
    emitError(autos.front().loc) << autos.front().text() << ": stage " << stage.stage << " needs " << stage.peakBytes
                                 << " bytes a rank, and " << least << " with all of its " << stage.units.size()
                                 << " units made again; --memory gives " << limit;
  }

  void add(const Auto &each, const std::optional<std::string> &pattern, dist::Recompute kind) {
    addTactic(job, each.loc, pattern, kind);
    texts.push_back(
        fmt::format("recompute {}{}", pattern ? "\"" + *pattern + "\" " : "", dist::stringifyRecompute(kind).str()));
  }

  /// The kind of every unit of every stage, where all are made again whole, or all selectively.
  std::optional<dist::Recompute> common() {
    std::optional<dist::Recompute> kind;
    for (const StagePrices &stage : stages)
      for (size_t i = 0; i < stage.units.size(); ++i) {
        const UnitOption &option = stage.units[i].options[chosen[stage.stage][i]];
        if (option.tactics.size() != 1 || !option.tactics[0].below.empty() || (kind && *kind != option.tactics[0].kind))
          return std::nullopt;
        kind = option.tactics[0].kind;
      }
    return kind;
  }

  void writeTactics() {
    texts.clear();
    if (auto kind = common()) {
      for (const Auto &each : autos)
        add(each, each.pattern, *kind);
      return;
    }
    for (const StagePrices &stage : stages)
      for (size_t i = 0; i < stage.units.size(); ++i)
        for (const UnitTactic &tactic : stage.units[i].options[chosen[stage.stage][i]].tactics)
          add(autos.front(), stage.units[i].name + tactic.below, tactic.kind);
  }

  /// Another treatment of one unit or of two of a stage, cheaper than the chosen one.
  struct Cheaper {
    uint64_t flops = 0;
    uint32_t stage = 0;
    std::vector<unsigned> options;
    bool operator<(const Cheaper &other) const { return flops < other.flops; }
  };
  /// Those predicted to save at least half of what must be.
  std::vector<Cheaper> cheaperChoices() {
    std::vector<Cheaper> found;
    for (const StagePrices &stage : stages) {
      const std::vector<unsigned> &now = chosen[stage.stage];
      int64_t mayMiss = (static_cast<int64_t>(stage.peakBytes) - static_cast<int64_t>(limit)) / 2;
      auto saved = [&](const std::vector<unsigned> &options) {
        int64_t sum = 0;
        for (size_t i = 0; i < options.size(); ++i)
          sum += static_cast<int64_t>(stage.units[i].options[options[i]].price.savedBytes) * stage.slots;
        return sum;
      };
      auto consider = [&](const std::vector<unsigned> &options) {
        if (flopsOf(stage, options) < flopsOf(stage, now) && saved(options) + mayMiss >= saved(now))
          found.push_back({flopsOf(stage, options), stage.stage, options});
      };
      constexpr size_t mostForPairs = 16; // with more units the steps between choices are small anyway
      for (size_t i = 0; i < now.size(); ++i)
        for (unsigned a = 0; a < stage.units[i].options.size(); ++a) {
          std::vector<unsigned> options = now;
          options[i] = a;
          consider(options);
          for (size_t j = i + 1; j < now.size() && now.size() <= mostForPairs; ++j)
            for (unsigned b = 0; b < stage.units[j].options.size(); ++b) {
              options[j] = b;
              consider(options);
              options[j] = now[j];
            }
        }
    }
    std::stable_sort(found.begin(), found.end());
    return found;
  }

  /// Savings do not quite add up where values share bytes: what is a little cheaper is compiled too, cheapest first.
  void improve(size_t before) {
    Block &plan = job.choice.plan.getBody().front();
    constexpr size_t mostTries = 12;
    std::vector<Cheaper> candidates = cheaperChoices();
    if (candidates.size() > mostTries) // the dearest are the likeliest to fit
      candidates.erase(candidates.begin(), candidates.end() - mostTries);
    auto rewrite = [&] {
      while (plan.getOperations().size() > before)
        plan.back().erase();
      writeTactics();
    };
    for (const Cheaper &candidate : candidates) {
      std::vector<unsigned> kept = std::exchange(chosen[candidate.stage], candidate.options);
      rewrite();
      auto memory = plannedMemory(session, job);
      if (!memory.empty() && llvm::all_of(memory, [&](auto &each) { return each.second.peakBytes <= limit; }))
        return;
      chosen[candidate.stage] = kept;
      rewrite();
    }
  }

  /// Chooses, proves by the planned memory, and chooses again where the prediction was short.
  bool choose() {
    Block &plan = job.choice.plan.getBody().front();
    size_t before = plan.getOperations().size();
    constexpr int mostRounds = 32;
    for (int round = 0; round < mostRounds; ++round) {
      bool all = true;
      for (const StagePrices &stage : stages)
        if (!chooseStage(stage)) {
          reportMisfit(stage);
          all = false;
        }
      if (!all)
        return false;
      writeTactics();
      auto memory = plannedMemory(session, job);
      if (memory.empty())
        return false;
      bool fits = true;
      for (auto &[stage, planned] : memory)
        if (planned.peakBytes > limit) {
          fits = false;
          if (dearestLast.insert(stage).second)
            continue;
          dearestLast.erase(stage);
          corrections[stage] += static_cast<int64_t>(planned.peakBytes - limit);
        }
      if (fits) {
        improve(before);
        return true;
      }
      while (plan.getOperations().size() > before)
        plan.back().erase();
    }
    for (const StagePrices &stage : stages)
      if (corrections[stage.stage])
        reportMisfit(stage);
    return false;
  }

  void print() {
    uint64_t flops = 0;
    for (const StagePrices &stage : stages)
      flops += flopsOf(stage, chosen[stage.stage]);
    std::string forms;
    for (const Auto &each : autos)
      forms += (forms.empty() ? "" : ", ") + each.text();
    if (texts.empty()) {
      fmt::print(stderr, "{} makes nothing again: the plan fits into {} bytes a rank\n", forms, limit);
      return;
    }
    fmt::print(stderr,
               "{} makes {} operations again a microbatch, the fewest with which the plan fits into {} bytes a rank:\n",
               forms, flops, limit);
    for (const std::string &text : texts)
      fmt::print(stderr, "  {}\n", text);
    job.found.push_back({forms, texts});
  }
};
} // namespace

bool hocket::tools::chooseRecompute(Session &session, Job &job, std::optional<uint64_t> limitBytes) {
  dist::PlanOp plan = job.choice.plan;
  bool any = llvm::any_of(plan.getBody().front().getOps<dist::RecomputeOp>(),
                          [](dist::RecomputeOp tactic) { return tactic.getKind() == dist::Recompute::Auto; });
  if (!any || !limitBytes)
    return true;
  Chooser chooser{session, job, takeAutos(plan), *limitBytes};
  chooseGatherWithin(session, job, *limitBytes);
  auto left = session.errors() ? std::nullopt : memoryForPlan(session, job, *limitBytes);
  if (!left)
    return false;
  chooser.limit = *left;
  std::vector<std::optional<std::string>> patterns;
  for (const Auto &each : chooser.autos)
    patterns.push_back(each.pattern);
  chooser.stages = recomputePrices(session, job, patterns);
  if (chooser.stages.empty() || !chooser.choose())
    return false;
  chooser.print();
  return true;
}
