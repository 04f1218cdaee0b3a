// Runs the regions of a training step op by op, on one rank or on N ranks in lockstep: the meaning of the program, by
// plain loops. Slow and exact; every faster executor is judged by it.
#pragma once
#include "dialect/NN/NN.h"
#include "passes/Interpreter/LockstepOps.h"
#include <functional>
#include <limits>
#include <map>
#include <memory>

namespace hocket::interpreter {

/// How results are kept: as computed, all rounded to f32, or each rounded to its own element type (f32, bf16, f16). The
/// arithmetic inside an op is float64 in all.
enum class Precision { Float64, Float32, Declared };
/// Rounds what a value or slot of `type` holds; integers stay.
void round(Precision precision, mlir::Type type, nn::HostTensor &tensor);

class Machine {
public:
  /// `ops` may be null where the program holds nn ops only; it outlives the machine, as do the step and its module.
  Machine(nn::TrainingStepOp step, RankGrid grid, const LockstepOps *ops, Precision precision);

  using Slot = std::pair<nn::SlotKind, std::string>;
  void set(const Slot &slot, PerRank value);
  /// Null before the slot is written.
  const PerRank *get(const Slot &slot) const;

  /// Runs the ops of a region in order. In `microbatch`: those of phase forward, then (unless `forwardOnly`) those of
  /// backward with those of recompute between them, then those of weight_grad. Fails with an error at the op that has
  /// no meaning here.
  llvm::LogicalResult run(mlir::Region &region, bool forwardOnly = false);

  /// How far the routers' choices were from other ones since the machine was made: the smallest difference between a
  /// logit that was chosen and one that was not (see routerMargin), infinite where nothing was routed. Plans round
  /// logits differently: a comparison of plans says nothing where this is near the rounding of logits.
  double routerMargin() const { return margin; }

  /// Called for each router of `forward` with its operands on all ranks.
  using OnRouter =
      std::function<llvm::LogicalResult(nn::RouterOp router, const PerRank &logits, const PerRank &positions)>;
  void setOnRouter(OnRouter function) { onRouter = std::move(function); }

  nn::TrainingStepOp step() const { return program; }
  const RankGrid &ranks() const { return grid; }

private:
  using Shared = std::shared_ptr<const PerRank>;
  llvm::LogicalResult runPhase(mlir::Block &block, nn::Phase phase, bool onlyPhase);
  llvm::LogicalResult execute(mlir::Operation *op);
  llvm::LogicalResult compute(mlir::Operation *op);
  llvm::LogicalResult read(nn::ReadOp op);
  void write(nn::WriteOp op);
  void define(mlir::Value value, Shared content);
  void release(mlir::Operation *op);

  nn::TrainingStepOp program;
  RankGrid grid;
  const LockstepOps *ops;
  Precision precision;
  std::map<Slot, Shared> slots;
  OnRouter onRouter;
  llvm::DenseMap<mlir::Value, Shared> values;
  llvm::DenseMap<mlir::Value, int64_t> usesLeft;
  double margin = std::numeric_limits<double>::infinity();
};
} // namespace hocket::interpreter
