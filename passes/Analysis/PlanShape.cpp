// See PlanShape.h.
#include "passes/Analysis/PlanShape.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::analysis;

BatchShape hocket::analysis::microbatchShape(dist::PlanOp plan, dist::MeshOp mesh) {
  BatchShape shape;
  if (auto tactic = plan.tactic<dist::BatchOp>()) {
    shape.rankRows = tactic.getMicrobatch();
    if (auto axes = tactic.getAxesAttr())
      shape.dataShards = dist::axesSize(mesh, axes.getRefs());
  }
  return shape;
}

/// Adds the axes of the manual regions in a model or block and in the blocks that it calls; each block is entered once.
static void addRegionAxes(Operation *function, llvm::StringSet<> &axes, llvm::SmallPtrSetImpl<Operation *> &entered) {
  if (!function || !entered.insert(function).second)
    return;
  auto enter = [&](FlatSymbolRefAttr callee) {
    addRegionAxes(SymbolTable::lookupNearestSymbolFrom(function->getParentOp(), callee), axes, entered);
  };
  function->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](nn::CallOp call) { enter(call.getCalleeAttr()); })
        .Case([&](nn::RepeatOp repeat) { enter(repeat.getCalleeAttr()); })
        .Case([&](dist::LocalOp region) {
          for (auto axis : region.getAxes().getAsRange<dist::MeshAxisAttr>())
            axes.insert(axis.getName());
        });
  });
}

bool hocket::analysis::usesAllRanks(dist::PlanOp plan, dist::MeshOp mesh) {
  llvm::StringSet<> used;
  auto use = [&](dist::AxesAttr axes) {
    for (const dist::AxisRef &ref : axes ? axes.getRefs() : llvm::ArrayRef<dist::AxisRef>())
      used.insert(ref.name.getValue());
  };
  for (Operation &op : plan.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](dist::BatchOp batch) { use(batch.getAxesAttr()); })
        .Case([&](dist::SplitOp split) { use(split.getAxes()); })
        .Case([&](dist::ContextOp context) { use(context.getAxes()); })
        .Case([&](dist::StagesOp stages) { use(stages.getAxes()); });
  llvm::SmallPtrSet<Operation *, 8> entered;
  addRegionAxes(SymbolTable::lookupNearestSymbolFrom(plan, plan.getModelAttr()), used, entered);
  bool all = true;
  for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>()) {
    if (axis.getSize() == 1 || used.contains(axis.getName()))
      continue;
    all = false;
    auto error = plan.emitError()
                 << "no tactic spreads work over mesh axis \"" << axis.getName() << "\" of " << axis.getSize()
                 << ": only 1 in " << axis.getSize() << " of the " << mesh.getWorldSize()
                 << " ranks would do work of its own (use it in batch, split, context or stages, or leave it out)";
    error.attachNote(mesh.getLoc()) << "mesh declared here";
  }
  return all;
}

std::optional<BatchShape> hocket::analysis::batchShape(nn::RecipeOp recipe, dist::PlanOp plan, dist::MeshOp mesh) {
  BatchShape shape = microbatchShape(plan, mesh);
  auto tactic = plan.tactic<dist::BatchOp>();
  auto batch = recipe.entry<nn::BatchOp>();
  if (!batch || shape.rows() < 1) // the verifiers of recipe and plan have said so
    return std::nullopt;
  int64_t sequences = batch.getSequences(), rows = shape.rows();
  if (sequences % rows == 0) {
    shape.microbatches = sequences / rows;
    return shape;
  }
  int64_t below = sequences / rows * rows;
  auto error = batch.emitError() << "global batch " << sequences << " is not a multiple of " << rows << " (microbatch "
                                 << shape.rankRows << " on each of " << shape.dataShards
                                 << " data-parallel ranks); nearest legal: ";
  if (below)
    error << below << " or ";
  error << below + rows;
  error.attachNote(tactic ? tactic.getLoc() : plan.getLoc()) << "microbatch and data-parallel ranks are of this plan";
  return std::nullopt;
}
