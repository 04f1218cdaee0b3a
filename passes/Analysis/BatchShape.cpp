#include "passes/Analysis/BatchShape.h"
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
