// Where stages end: how many layers each virtual stage gets.
#pragma once
#include "passes/DistToStep/StagePlacement.h"

namespace hocket::step {

/// Layers of each virtual stage of a placement whose layers and places are known. The tactic's cuts, or by cost where
/// it is balanced, else (null too) even, longer ones first. Faults are errors at `loc`.
llvm::FailureOr<llvm::SmallVector<uint32_t>> cutLayers(nn::TrainingStepOp step, const StagePlacement &placement,
                                                       mlir::Location loc, dist::StagesOp tactic);

/// Places every op of the microbatch region that is not free by the layers' virtual stages; see placeStages.
llvm::LogicalResult placeOps(mlir::Block &microbatch, StagePlacement &placement);

/// What each layer costs a microbatch on one rank, forward and backward, from the ops' own counts: floating-point
/// operations or, where that is more, flopsPerByte for every byte that an op reads and writes. What stands outside of
/// layers counts with the layer whose stage it follows: embedding with the first, head and loss with the last. Time of
/// collectives is not counted.
llvm::SmallVector<double> layerCosts(nn::TrainingStepOp step, const StagePlacement &placement);
inline constexpr double flopsPerByte = 4;
} // namespace hocket::step
