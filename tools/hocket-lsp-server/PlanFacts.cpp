// See PlanFacts.h.
#include "tools/hocket-lsp-server/PlanFacts.h"
#include "dialect/Step/Step.h"
#include "tools/hocket-lsp-server/TextPlaces.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;

namespace {
OpPlace placeOf(Location loc) {
  FileLineColLoc file = fileOf(loc);
  return file ? OpPlace(file.getLine(), file.getColumn()) : OpPlace(0, 0);
}

/// `{"dp", "tp":(1)2}` as `dp, tp:(1)2`.
std::string bare(ArrayRef<dist::AxisRef> refs) {
  std::string text;
  for (char c : dist::axesText(refs))
    if (c != '{' && c != '}' && c != '"')
      text += c;
  return text;
}

std::string textOf(dist::ShardingAttr sharding) {
  std::string text;
  auto add = [&](std::string more) { text += (text.empty() ? "" : ", ") + more; };
  for (auto [dim, split] : llvm::enumerate(sharding.getDims()))
    if (!split.axes.empty())
      add(fmt::format("dim {} over {}", dim, bare(split.axes)));
  if (sharding.isPartial())
    add(fmt::format("a {} over {}", stringifyReduction(sharding.getReduction()).str(), bare(sharding.getPartial())));
  return text.empty() ? "whole" : text;
}

struct Collector {
  PlanFacts &facts;
  dist::MeshOp mesh;

  std::optional<Piece> piece(Type type, Attribute attr) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto sharding = dyn_cast_or_null<dist::ShardingAttr>(attr);
    if (!tensor || !tensor.hasStaticShape() || !sharding || sharding.getDims().size() != size_t(tensor.getRank()))
      return std::nullopt;
    RankedTensorType local = dist::localType(mesh, tensor, sharding);
    Piece made{fmt::format("{}", fmt::join(local.getShape(), "x")), textOf(sharding), uint64_t(step::byteSize(local)),
               local.getRank()};
    if (made.shape.empty())
      made.shape = "one number";
    return made;
  }
  std::optional<Piece> pieceOf(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return std::nullopt;
    auto shardings = result.getOwner()->getAttrOfType<ArrayAttr>("shardings");
    if (!shardings || result.getResultNumber() >= shardings.size())
      return std::nullopt;
    return piece(value.getType(), shardings[result.getResultNumber()]);
  }

  void slots(nn::TrainingStepOp step) {
    std::map<std::string, Piece> moments;
    auto slots = step.getSlots().getOps<nn::SlotOp>();
    for (nn::SlotOp slot : slots)
      if (slot.getKind() == nn::SlotKind::FirstMoment)
        if (auto made = piece(slot.getType(), slot.getShardingAttr()))
          moments[slot.getName().str()] = *made;
    for (nn::SlotOp slot : slots) {
      if (slot.getKind() != nn::SlotKind::Param)
        continue;
      auto made = piece(slot.getType(), slot.getShardingAttr());
      if (!made)
        continue;
      ParamFact fact{slot.getName().str(), *made, std::nullopt};
      if (auto it = moments.find(fact.name); it != moments.end())
        fact.moment = it->second;
      facts.params[placeOf(slot.getLoc())].push_back(std::move(fact));
    }
  }
  void values(nn::TrainingStepOp step) {
    for (Operation &op : step.getMicrobatch().front()) {
      if (nn::getPhase(&op) != nn::Phase::Forward || isa<nn::ReadOp, nn::WriteOp>(op))
        continue;
      ValueFact fact{nn::getPath(&op).str(), {}, {}};
      for (Value result : op.getResults())
        fact.results.push_back(pieceOf(result));
      for (Value operand : op.getOperands())
        fact.operands.push_back(pieceOf(operand));
      facts.values[placeOf(op.getLoc())].push_back(std::move(fact));
    }
  }
};
} // namespace

PlanFacts hocket::lsp::factsOf(dist::PlanOp plan, dist::MeshOp mesh) {
  PlanFacts facts;
  facts.plan = plan.getSymName().str();
  facts.ranks = mesh.getWorldSize();
  for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
    facts.mesh += fmt::format("{}{}={}", facts.mesh.empty() ? "" : " ", axis.getName().str(), axis.getSize());
  return facts;
}

void hocket::lsp::collectFacts(ModuleOp sharded, PlanFacts &facts) {
  auto meshes = sharded.getOps<dist::MeshOp>();
  auto steps = sharded.getOps<nn::TrainingStepOp>();
  if (meshes.empty() || steps.empty())
    return;
  Collector collector{facts, *meshes.begin()};
  collector.slots(*steps.begin());
  collector.values(*steps.begin());
}

void hocket::lsp::collectStages(ModuleOp kernels, PlanFacts &facts) {
  for (auto program : kernels.getOps<step::ProgramOp>())
    facts.stages.push_back(
        {program.getStage(), program.getArenaBytes().value_or(0), step::partsText(program.getParts())});
}
