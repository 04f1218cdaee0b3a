// One stage's program in the making: its buffers, and who needs which value where.
#pragma once
#include "dialect/Step/Step.h"
#include "passes/DistToStep/StagePlacement.h"
#include "passes/DistToStep/WeightGradWork.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace hocket::step {

/// A value that leaves its virtual stage: from the one that makes it over each that lies between, up to (down to)
/// `last`.
struct Crossing {
  mlir::Value value;
  unsigned first, last; ///< virtual stages; first < last: forward, else backward
};

/// Values used on other virtual stages than their own, in the order they are made; a value goes as far as its farthest
/// user. Error: a value that backward uses on another stage than the forward that made it.
llvm::FailureOr<llvm::SmallVector<Crossing>> findCrossings(nn::TrainingStepOp step, const StagePlacement &placement);

class StageProgram {
public:
  /// `names` of the microbatch region's values (ValueNames.h).
  StageProgram(mlir::OpBuilder &builder, nn::TrainingStepOp step, const StagePlacement &placement, unsigned stage,
               bool splitWeightGrad, dist::MeshOp mesh, dist::AxesAttr stageAxes, llvm::ArrayRef<Crossing> crossings,
               const llvm::DenseMap<mlir::Value, std::string> &names);

  /// Fills begin, forward, backward (and weight_grad, where it is split) of each chunk, update and evaluate, and the
  /// messages. Schedules are added by the pass.
  mlir::LogicalResult build();
  ProgramOp getProgram() { return program; }

private:
  friend class BodyEmitter;
  /// The buffer of a slot of the training step. `wholeStep`: read in begin, all microbatches of an input.
  mlir::Value slotBuffer(nn::SlotKind kind, llvm::StringRef name, mlir::RankedTensorType type);
  /// The buffer, in the slot of the chunk in hand (and of its chain, see schedule::Chains), of a value that a body
  /// leaves for another or a message.
  mlir::Value valueBuffer(mlir::Value value) { return valueBuffer(value, chunk); }
  mlir::Value valueBuffer(mlir::Value value, unsigned chunk);
  bool isKept(mlir::Value value) const { return kept.contains(value); }
  mlir::Value addBuffer(mlir::Location loc, llvm::StringRef name, MemoryClass memory, Space space,
                        mlir::RankedTensorType type, nn::SlotKindAttr slot, nn::InitAttr init, mlir::Attribute shard);
  mlir::Block *addBody(BodyKind kind);
  unsigned here() const { return placement.virtualStage(stage, chunk); }
  BodyKind bodyOf(mlir::Operation *op) const;
  bool runsIn(mlir::Operation *op, BodyKind kind) const;
  void findKept();
  void buildMicrobatch(BodyKind kind);
  void buildBegin();
  mlir::LogicalResult buildOnce(mlir::Region &region, BodyKind kind);
  void buildMessages();
  void eraseUnused();
  /// What goes between neighbouring virtual stages, in order: what ends there before what goes on.
  llvm::SmallVector<mlir::Value> valuesOver(unsigned from, unsigned to) const;
  mlir::Value tokenBuffer(unsigned from, unsigned to);
  void addMessage(unsigned from, unsigned to);

  mlir::OpBuilder &builder;
  nn::TrainingStepOp step;
  const StagePlacement &placement;
  unsigned stage, chunk = 0; ///< the chunk in hand
  bool splitWeightGrad;
  schedule::Chains chains;
  dist::MeshOp mesh;
  dist::AxesAttr stageAxes;
  llvm::ArrayRef<Crossing> crossings;
  const llvm::DenseMap<mlir::Value, std::string> &names;

  ProgramOp program;
  mlir::Operation *firstBody = nullptr;
  WeightGradWork weightGradWork;
  llvm::DenseSet<mlir::Value> kept;                                           ///< left by the body that makes it
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> valueBuffers; ///< by chain
  llvm::StringMap<mlir::Value> slotBuffers;
  std::map<std::pair<unsigned, unsigned>, mlir::Value> tokens;
};
} // namespace hocket::step
