// Asks propagation and the partitioner's outcome; see ShardingReport.h.
#include "tools/hocket/ShardingReport.h"
#include "passes/Dist/DimensionClasses.h"
#include "passes/Dist/OriginMap.h"
#include "passes/Dist/PlannedTransfers.h"
#include "passes/StepToProgram/ProgramStrings.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
std::string opText(Operation *op) {
  StringRef path = nn::getPath(op);
  return op->getName().stripDialect().str() + (path.empty() ? "" : " in " + path.str());
}

template <typename T> std::string printed(T what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

/// `128x3x4x32xf32`.
std::string typeText(Type type) {
  std::string text = printed(type);
  StringRef bare = text;
  return bare.consume_front("tensor<") && bare.consume_back(">") ? bare.str() : text;
}

class Collector {
public:
  Collector(const dist::Propagation &propagation, dist::PlanOp plan)
      : propagation(propagation), graph(propagation.getGraph()), plan(plan), origins(propagation, plan) {}

  std::vector<ShardingFact> run() {
    for (auto &[op, node] : graph.slots) {
      auto slot = cast<nn::SlotOp>(op);
      ShardingFact fact{slot.getName().str(),
                        nn::stringifySlotKind(slot.getKind()).str(),
                        "at rest",
                        typeText(slot.getType()),
                        "",
                        step::sourceOf(slot.getLoc()),
                        {}};
      describe(fact, node, propagation.atRest(slot));
      for (SplitFact &split : fact.splits)
        if (split.dim < 0)
          traceSumAtRest(split, slot);
      facts.push_back(std::move(fact));
    }
    for (const dist::StepOp &op : graph.ops)
      for (auto [result, node] : llvm::zip(op.op->getResults(), op.results))
        addResult(op, result, node);
    return std::move(facts);
  }

private:
  void addResult(const dist::StepOp &op, OpResult result, dist::Node node) {
    nn::TrainingStepOp step = graph.step;
    std::string phase = op.region == &step.getBegin()      ? "begin"
                        : op.region == &step.getUpdate()   ? "update"
                        : op.region == &step.getEvaluate() ? "evaluate"
                                                           : nn::stringifyPhase(nn::getPhase(op.op)).str();
    std::string number = op.op->getNumResults() > 1 ? fmt::format(" #{}", result.getResultNumber()) : "";
    ShardingFact fact{nn::getPath(op.op).str(),
                      op.op->getName().stripDialect().str() + number,
                      phase,
                      typeText(result.getType()),
                      "",
                      step::sourceOf(op.op->getLoc()),
                      {}};
    dist::Spread spread = propagation.natural(result);
    describe(fact, node, spread);
    for (SplitFact &split : fact.splits)
      if (split.dim < 0)
        tracePartial(split, op, result, spread);
    facts.push_back(std::move(fact));
  }

  std::string axesText(ArrayRef<dist::Atom> atoms) const {
    return dist::plainAxes(propagation.getAtoms().toRefs(atoms));
  }

  void describe(ShardingFact &fact, dist::Node node, const dist::Spread &spread) {
    auto add = [&](const std::string &text) { fact.sharding += (fact.sharding.empty() ? "" : ", ") + text; };
    for (auto [dim, atoms] : llvm::enumerate(spread.dims)) {
      if (atoms.empty())
        continue;
      add(fmt::format("dim {} over {}", dim, axesText(atoms)));
      for (dist::Atom atom : atoms) // a whole axis is most often one atom
        addSplit(fact, static_cast<int>(dim), atom, origins.of(node, static_cast<int>(dim), atom));
    }
    if (!spread.partial.empty()) {
      add(fmt::format("a {} over {}", dist::stringifyReduction(spread.reduction).str(), axesText(spread.partial)));
      for (dist::Atom atom : spread.partial)
        fact.splits.push_back({-1, axesText({atom}), "", "", {}});
    }
    if (fact.sharding.empty())
      fact.sharding = "whole";
  }

  void addSplit(ShardingFact &fact, int dim, dist::Atom atom, const dist::Origin &origin) {
    SplitFact split{dim, axesText({atom}), "", "", {}};
    fill(split, origin);
    // Parts of one axis that came the same way are one.
    if (!fact.splits.empty() && fact.splits.back().dim == dim && fact.splits.back().tactic == split.tactic &&
        fact.splits.back().slot == split.slot && !split.tactic.empty()) {
      fact.splits.back().axes += " " + split.axes;
      return;
    }
    fact.splits.push_back(std::move(split));
  }

  void fill(SplitFact &split, const dist::Origin &origin) const {
    if (!origin.tactic)
      return;
    split.tactic = dist::tacticText(origin.tactic);
    split.slot = nn::SlotOp(origin.slot).getName().str();
    for (Operation *op : origin.through)
      split.through.push_back(opText(op));
  }

  /// Accumulators stay sums over what their gradients are sums over: sequences, or parts of one.
  void traceSumAtRest(SplitFact &split, nn::SlotOp slot) const {
    for (Operation &tactic : dist::PlanOp(plan).getBody().front())
      if (!isa<dist::ZeroOp, dist::StagesOp>(tactic) &&
          dist::plainAxes(dist::tacticAxes(&tactic)).find(split.axes) != std::string::npos) {
        split.tactic = dist::tacticText(&tactic);
        split.slot = slot.getName().str();
        split.through = {"its gradient, a sum over tokens"};
        return;
      }
  }

  /// A sum over what an op's operands have and its result has not.
  void tracePartial(SplitFact &split, const dist::StepOp &op, OpResult result, const dist::Spread &spread) const {
    int index = graph.opIndex.lookup(op.op);
    const auto &term = op.rule.results[result.getResultNumber()];
    for (dist::Atom atom : spread.partial) {
      if (axesText({atom}) != split.axes)
        continue;
      for (int factor = 0; factor < static_cast<int>(op.rule.factors.size()); ++factor)
        if (!llvm::is_contained(term, factor) && llvm::is_contained(propagation.factor(index, factor), atom)) {
          fill(split, origins.ofFactor(index, factor, atom));
          split.through.push_back(
              fmt::format("the sum over {}={}", op.rule.factors[factor].name, op.rule.factors[factor].size));
          return;
        }
    }
  }

  const dist::Propagation &propagation;
  const dist::StepGraph &graph;
  dist::PlanOp plan;
  dist::OriginMap origins;
  std::vector<ShardingFact> facts;
};

/// `split A and split B`: every tactic that splits an index which `tactic` splits. A collective over that index goes
/// only with all of them, for propagation finds the split from any.
std::string companions(dist::SplitOp tactic, nn::TrainingStepOp step, dist::PlanOp plan,
                       const dist::DimensionClasses &classes) {
  SmallVector<std::string> texts;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    if (slot.getKind() != nn::SlotKind::Param || !nn::matchesName(*tactic.getPattern(), slot.getName()))
      continue;
    int dim = static_cast<int>(*tactic.getDim());
    for (auto [param, its] : classes.of(slot, dim).params)
      for (const dist::AxisRef &ref : dist::tacticAxes(tactic))
        if (Operation *other = dist::tacticOf(plan, param, its, ref))
          if (std::string text = dist::tacticText(other); !llvm::is_contained(texts, text))
            texts.push_back(text);
  }
  return llvm::join(texts, " and ");
}

void addTactics(std::map<std::string, std::string> &remedies, nn::TrainingStepOp step, dist::PlanOp plan,
                const dist::DimensionClasses &classes) {
  for (Operation &tactic : plan.getBody().front()) {
    std::string text = dist::tacticText(&tactic);
    if (auto split = dyn_cast<dist::SplitOp>(tactic); split && split.getPattern())
      remedies[text] = "a plan without " + companions(split, step, plan, classes);
    else if (isa<dist::BatchOp>(tactic))
      remedies[text] = fmt::format("a batch that is not split over {}", dist::plainAxes(dist::tacticAxes(&tactic)));
    else
      remedies[text] = "a plan without " + text;
  }
}

/// A transfer that carries several values has several causes, and goes with all of them.
std::string remediesOf(const ShardingFacts &facts, StringRef cause) {
  SmallVector<StringRef> causes;
  cause.split(causes, "; ");
  SmallVector<std::string> remedies;
  for (StringRef each : causes)
    if (auto at = facts.remedies.find(each.split(": ").first.str());
        at != facts.remedies.end() && !llvm::is_contained(remedies, at->second))
      remedies.push_back(at->second);
  return llvm::join(remedies, ", and ");
}

std::string transferKey(StringRef op, StringRef path, StringRef cause) { return (op + "|" + path + "|" + cause).str(); }
} // namespace

std::optional<ShardingFacts> hocket::tools::findShardings(Session &session, const Job &job) {
  auto sharded = lower(session, job.choice, job.shape, Layer::Sharded);
  auto local = sharded ? lower(session, job.choice, job.shape, Layer::Local) : nullptr;
  if (!local)
    return std::nullopt;
  ShardingFacts facts;
  nn::TrainingStepOp step = *sharded->getOps<nn::TrainingStepOp>().begin();
  dist::PlanOp plan = dist::planOf(step);
  auto graph = dist::StepGraph::create(step);
  if (failed(graph))
    return std::nullopt;
  FailureOr<dist::Propagation> propagation = dist::Propagation::run(*graph, dist::meshOf(plan));
  if (failed(propagation))
    return std::nullopt;
  facts.values = Collector(*propagation, plan).run();
  addTactics(facts.remedies, step, plan, dist::DimensionClasses(*graph));
  nn::TrainingStepOp localStep = *local->getOps<nn::TrainingStepOp>().begin();
  dist::PlanOp localPlan = dist::planOf(localStep);
  for (const dist::PlannedTransfer &transfer : dist::transfersOf(localStep, localPlan, dist::meshOf(localPlan)))
    if (!transfer.planned)
      facts.implicit[transferKey(transfer.op->getName().stripDialect(), nn::getPath(transfer.op),
                                 transfer.op->getAttrOfType<StringAttr>("cause").getValue())] = transfer.remedy;
  return facts;
}

void hocket::tools::addRemedies(const ShardingFacts &facts, Report &report) {
  for (TransferReport &transfer : report.transfers) {
    if (auto at = facts.implicit.find(transferKey(transfer.op, transfer.path, transfer.cause));
        at != facts.implicit.end()) {
      transfer.implicit = true;
      transfer.remedy = at->second.empty() ? "nothing: the value is needed whole" : at->second;
      continue;
    }
    transfer.remedy = remediesOf(facts, transfer.cause);
    if (!transfer.remedy.empty())
      continue;
    if (transfer.op == "send" || transfer.op == "receive")
      transfer.remedy = "fewer stages";
    else if (StringRef(transfer.cause).contains("used by several stages"))
      transfer.remedy = "stages that do not share the parameter";
  }
}
