// See RecomputePrices.h.
#include "tools/hocket/RecomputePrices.h"
#include "dialect/Step/Step.h"
#include "passes/Dist/RecomputeUnits.h"
#include "tools/hocket/MemoryLimit.h"
#include <algorithm>
#include <set>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

void hocket::tools::addTactic(Job &job, Location loc, const std::optional<std::string> &pattern, dist::Recompute kind) {
  Block &body = job.choice.plan.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  dist::RecomputeOp::create(builder, loc, pattern ? builder.getStringAttr(*pattern) : StringAttr(), kind);
}

std::map<uint32_t, PlannedMemory> hocket::tools::plannedMemory(Session &session, const Job &job) {
  std::map<uint32_t, PlannedMemory> memory;
  Trial quiet(session);
  auto module = lower(session, job.choice, job.shape, Layer::Kernels);
  if (module)
    for (auto program : module->getOps<step::ProgramOp>())
      memory[program.getStage()] = {program.getArenaBytes().value_or(0), program.getSlotBytes().value_or(0),
                                    program.getSlotCount().value_or(0)};
  return memory;
}

namespace {
bool liesIn(StringRef path, StringRef unit) {
  path = path.split('#').first;
  return path.consume_front(unit) && (path.empty() || path.starts_with("."));
}

struct Pricing {
  Session &session;
  Job &job;
  ArrayRef<std::optional<std::string>> patterns;
  std::vector<StagePrices> stages = {};
  std::vector<StageActivations> base = {};
  std::map<uint32_t, PlannedMemory> baseMemory = {};

  /// Every unit made again in one way.
  struct Uniform {
    std::vector<StageActivations> stages;
    std::map<uint32_t, PlannedMemory> memory;
    bool ok() const { return !stages.empty() && !memory.empty(); }
  };
  /// Lowered under a tactic for every unit, which is taken away again; `below`: of what follows a unit's name.
  Uniform under(StringRef below, dist::Recompute kind) {
    Block &body = job.choice.plan.getBody().front();
    size_t before = body.getOperations().size();
    for (const StagePrices &stage : stages)
      for (const RecomputeUnit &unit : stage.units)
        if (below.empty() || hasPart(unit, below.drop_front()))
          addTactic(job, job.choice.plan.getLoc(), unit.name + below.str(), kind);
    Uniform found{{}, plannedMemory(session, job)};
    Trial quiet(session);
    if (auto module = lower(session, job.choice, job.shape, Layer::Step))
      found.stages = activationsOf(*module);
    while (body.getOperations().size() > before)
      body.back().erase();
    return found;
  }

  std::map<std::string, std::set<std::string>> partsOf; ///< of units, by name
  bool hasPart(const RecomputeUnit &unit, StringRef part) const { return partsOf.at(unit.name).count(part.str()); }

  /// Units of the ops of forward, with their stages, in order. What an explicit tactic names is left alone.
  bool findUnits() {
    Trial quiet(session);
    auto module = lower(session, job.choice, job.shape, Layer::Step);
    if (!module)
      return false;
    base = activationsOf(*module);
    auto isTaken = [&](StringRef path) {
      return llvm::any_of(job.choice.plan.getBody().front().getOps<dist::RecomputeOp>(), [&](dist::RecomputeOp tactic) {
        return !dist::RecomputeUnits::unitOf(tactic.getPattern(), path).empty();
      });
    };
    for (auto program : module->getOps<step::ProgramOp>()) {
      stages.push_back({});
      stages.back().stage = program.getStage();
      for (auto body : program.ops<step::BodyOp>())
        for (Operation &op : body.getBody().front())
          if (StringRef path = nn::getPath(&op).split('#').first;
              body.getKind() == step::BodyKind::Forward && !path.empty() && !isTaken(path))
            addPath(path);
    }
    return true;
  }
  void addPath(StringRef path) {
    for (const std::optional<std::string> &pattern : patterns) {
      std::string name =
          dist::RecomputeUnits::unitOf(pattern ? std::optional<StringRef>(*pattern) : std::nullopt, path);
      if (name.empty())
        continue;
      auto &units = stages.back().units;
      if (llvm::none_of(units, [&](const RecomputeUnit &unit) { return unit.name == name; }))
        units.push_back({name, {UnitOption()}});
      StringRef below = path.drop_front(name.size());
      auto &parts = partsOf[name];
      if (below.consume_front("."))
        parts.insert(below.split('.').first.str());
      return;
    }
  }

  static uint64_t keptIn(const StageActivations &stage, StringRef unit) {
    uint64_t bytes = 0;
    for (const KeptActivation &each : stage.kept)
      if (liesIn(each.path, unit))
        bytes += llvm::alignTo(each.bytes, 64);
    return bytes;
  }
  static UnitChoice priceOf(const StageActivations &base, const StageActivations &under, StringRef unit) {
    UnitChoice price;
    uint64_t before = keptIn(base, unit), after = keptIn(under, unit);
    price.savedBytes = before > after ? before - after : 0;
    for (const MadeAgain &each : under.again)
      if (liesIn(each.path, unit))
        price.flops += each.flops;
    return price;
  }

  /// Every set of parts; of more than four parts, every single one.
  static void addSets(RecomputeUnit &unit, ArrayRef<UnitOption> parts) {
    for (unsigned set = 1; set < (1u << parts.size()); ++set) {
      if (parts.size() > 4 && (set & (set - 1)))
        continue;
      UnitOption option;
      for (size_t i = 0; i < parts.size(); ++i)
        if (set >> i & 1) {
          option.tactics.push_back(parts[i].tactics.front());
          option.price.savedBytes += parts[i].price.savedBytes;
          option.price.flops += parts[i].price.flops;
          option.extraBytes = std::max(option.extraBytes, parts[i].extraBytes);
        }
      unit.options.push_back(option);
    }
  }

  bool run() {
    if (!findUnits())
      return false;
    baseMemory = plannedMemory(session, job);
    Uniform selective = under("", dist::Recompute::Selective), full = under("", dist::Recompute::Full);
    if (baseMemory.empty() || !selective.ok() || !full.ok())
      return false;
    std::map<std::string, Uniform> byPart;
    for (size_t s = 0; s < stages.size(); ++s)
      for (const RecomputeUnit &unit : stages[s].units)
        for (const std::string &part : partsOf[unit.name])
          if (!byPart.count(part) && priceOf(base[s], selective.stages[s], unit.name + "." + part).savedBytes)
            if (!(byPart[part] = under("." + part, dist::Recompute::Selective)).ok())
              return false;
    for (size_t s = 0; s < stages.size(); ++s) {
      stages[s].slots = static_cast<uint32_t>(baseMemory[stages[s].stage].slots);
      stages[s].peakBytes = baseMemory[stages[s].stage].peakBytes;
      price(s, selective, full, byPart);
    }
    return true;
  }

  /// What stage `s` needs beside the slots, beyond that of keeping all.
  int64_t extraOf(size_t s, const Uniform &uniform) const {
    auto beside = [](const PlannedMemory &memory) {
      return static_cast<int64_t>(memory.peakBytes) - static_cast<int64_t>(memory.slots * memory.slotBytes);
    };
    return beside(uniform.memory.at(stages[s].stage)) - beside(baseMemory.at(stages[s].stage));
  }
  /// How much smaller slots get for each byte that is not kept: less than all of it where values share bytes that are
  /// not needed at once (those from backward to weight_grad with those from forward to backward).
  double savedShare(size_t s, const Uniform &uniform) const {
    uint64_t saved = 0;
    for (const RecomputeUnit &unit : stages[s].units)
      saved += priceOf(base[s], uniform.stages[s], unit.name).savedBytes;
    double before = baseMemory.at(stages[s].stage).slotBytes, after = uniform.memory.at(stages[s].stage).slotBytes;
    return saved ? std::max(0.0, before - after) / static_cast<double>(saved) : 0;
  }
  UnitOption optionOf(size_t s, const Uniform &uniform, StringRef unit, UnitTactic tactic) const {
    UnitChoice price = priceOf(base[s], uniform.stages[s], unit);
    price.savedBytes = static_cast<uint64_t>(static_cast<double>(price.savedBytes) * savedShare(s, uniform));
    return {{std::move(tactic)}, price, extraOf(s, uniform)};
  }
  void price(size_t s, const Uniform &selective, const Uniform &full, const std::map<std::string, Uniform> &byPart) {
    for (RecomputeUnit &unit : stages[s].units) {
      unit.options.push_back(optionOf(s, selective, unit.name, {"", dist::Recompute::Selective}));
      unit.options.push_back(optionOf(s, full, unit.name, {"", dist::Recompute::Full}));
      std::vector<UnitOption> parts;
      for (auto &[part, found] : byPart)
        if (hasPart(unit, part))
          parts.push_back(optionOf(s, found, unit.name, {"." + part, dist::Recompute::Selective}));
      addSets(unit, parts);
    }
  }
};
} // namespace

std::vector<StagePrices> hocket::tools::recomputePrices(Session &session, Job &job,
                                                        ArrayRef<std::optional<std::string>> patterns) {
  Pricing pricing{session, job, patterns};
  return pricing.run() ? std::move(pricing.stages) : std::vector<StagePrices>();
}
