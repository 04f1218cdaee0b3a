// Which stage each op of a partitioned training step runs on. Layers are cut; everything else follows from its
// operands.
#pragma once
#include "dialect/Step/Step.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace hocket::step {

/// A value that every stage can make for itself: reads of slots, and what depends on nothing but the rank and the
/// values that begin makes (positions, offsets, constants, one over the count of tokens).
bool isFree(mlir::Operation *op);

struct StagePlacement {
  unsigned stages = 1;
  llvm::SmallVector<std::string> layers;   ///< in model order
  llvm::SmallVector<uint32_t> layerCounts; ///< layers of each stage
  llvm::StringMap<unsigned> stageOfLayer;
  /// Of the microbatch region's ops that are not free.
  llvm::DenseMap<mlir::Operation *, unsigned> stageOf;
  /// Stages that use a parameter, and the stage that adds to an accumulator.
  llvm::StringMap<llvm::SmallVector<unsigned>> holders;
  llvm::StringMap<unsigned> accumulatorStage;

  /// Why something goes from a stage to the next: "stages are cut between h.2 and h.3".
  std::string describeCut(unsigned stage) const;
  /// The parts of the model that a stage runs forward, in order: layers, and the paths of what stands outside of them.
  llvm::SmallVector<std::string> partsOf(nn::TrainingStepOp step, unsigned stage) const;
};

/// Cuts the layers of the microbatch region into `stages` stages, as even as can be, longer ones first. Ops outside of
/// layers go with their last producer (forward), or with the forward values they use, else with their first producer
/// (backward); what is made of free values alone goes with its first user. Errors: more stages than layers; a backward
/// op that needs forward values of two stages.
llvm::FailureOr<StagePlacement> placeStages(nn::TrainingStepOp step, unsigned stages, mlir::Location stagesLoc);
} // namespace hocket::step
