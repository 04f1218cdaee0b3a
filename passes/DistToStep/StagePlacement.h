// Which stage each op of a partitioned training step runs on. Layers are cut; everything else follows from its
// operands.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/Dist/FreeValues.h"
#include "dialect/Step/Step.h"
#include "passes/Schedule/Problem.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace hocket::step {

using dist::isFree;

/// Virtual stages are the pieces of the model in its order: one for each chunk of each stage. The schedule says which
/// chunk of which stage a virtual stage is.
struct StagePlacement {
  unsigned stages = 1;
  unsigned chunks = 1;                         ///< of each stage
  llvm::SmallVector<schedule::Place> places;   ///< of each virtual stage
  llvm::SmallVector<std::string> layers;       ///< in model order
  llvm::SmallVector<uint32_t> layerCounts;     ///< layers of each virtual stage
  llvm::SmallVector<mlir::Location> layerLocs; ///< where the user wrote each layer
  llvm::StringMap<unsigned> virtualStageOfLayer;
  /// Of the microbatch region's ops that are not free.
  llvm::DenseMap<mlir::Operation *, unsigned> virtualStageOf;
  /// Stages that use a parameter, and the stage that adds to an accumulator.
  llvm::StringMap<llvm::SmallVector<unsigned>> holders;
  llvm::StringMap<unsigned> accumulatorStage;

  unsigned virtualStages() const { return stages * chunks; }
  unsigned virtualStage(unsigned stage, unsigned chunk) const;
  /// Sizes and places alone.
  schedule::Problem problem() const;
  /// Where the user wrote the first layer of a virtual stage.
  std::optional<mlir::Location> locOf(unsigned virtualStage) const;
  /// Why something goes from a virtual stage to the next: "stages are cut between h.2 and h.3".
  std::string describeCut(unsigned virtualStage) const;
  /// The parts of the model that a stage runs forward, in order: layers, and the paths of what stands outside of them.
  llvm::SmallVector<std::string> partsOf(nn::TrainingStepOp step, unsigned stage) const;
};

/// Cuts the layers of the microbatch region into the problem's virtual stages as the tactic says (StageCuts.h); null is
/// as even as can be.
/// Ops outside of layers go with their last producer (forward), or with the forward values they use, else with their
/// first producer (backward); what is made of free values alone goes with its first user. Errors: more stages than
/// layers; cuts that lose layers; a backward op that needs forward values of two stages.
llvm::FailureOr<StagePlacement> placeStages(nn::TrainingStepOp step, const schedule::Problem &problem,
                                            mlir::Location stagesLoc, dist::StagesOp tactic);
} // namespace hocket::step
