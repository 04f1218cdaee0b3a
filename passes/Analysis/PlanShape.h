// What a plan makes of mesh and batch: microbatches, rows of each, and whether every rank has work.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"

namespace hocket::analysis {

struct BatchShape {
  int64_t rankRows = 1;     ///< sequences of one microbatch on one rank
  int64_t dataShards = 1;   ///< ranks that the rows of a microbatch are spread over
  int64_t microbatches = 1; ///< batch / (rankRows * dataShards)
  int64_t rows() const { return rankRows * dataShards; }
};

/// True if batch, splits, stages or manual regions of the model spread work over every axis of the mesh; else errors:
/// ranks would be left idle.
bool usesAllRanks(dist::PlanOp plan, dist::MeshOp mesh);
/// The shape of one microbatch under a plan; microbatches is 1.
BatchShape microbatchShape(dist::PlanOp plan, dist::MeshOp mesh);
/// The shape, or errors: a batch that is no multiple of one microbatch of all ranks together (with the nearest that
/// are). A plan without `batch` takes one sequence at a time on one shard.
std::optional<BatchShape> batchShape(nn::RecipeOp recipe, dist::PlanOp plan, dist::MeshOp mesh);
} // namespace hocket::analysis
