// Which ops that are made again run in a body of weight gradients, where the backward is split (Qi et al. 2023, "Zero
// Bubble Pipeline Parallelism", section 2).
//
// What such a body reads of what backward made again would lie in the slot from the one to the other, in as many slots
// as are in flight: a schedule that puts weight gradients off would keep what recompute let go. So the body makes it
// once more, of what costs fewest bytes to keep (LeastKept.h): with `full` the layer's input, and never more than
// before. Where slots are fullest before weight gradients come (the last stage holds logits from forward to backward,
// and what is kept for weight gradients lies where they have been) keeping costs nothing, and nothing is made twice.
//
//   x ─▶ norm ─▶ n ─▶ linear ─▶ f ─▶ gelu ─▶ g      weight gradients read n and g, gelu's backward f
//   kept from backward on: x           made twice: n, f, g
#pragma once
#include "passes/DistToStep/StagePlacement.h"
#include "llvm/ADT/DenseSet.h"

namespace hocket::step {

struct WeightGradWork {
  /// Run there and not in backward: nobody else uses them, and they need nothing that backward makes and this body does
  /// not.
  llvm::DenseSet<mlir::Operation *> only;
  /// Run there and in backward. Never a collective: what it gives is kept.
  llvm::DenseSet<mlir::Operation *> twice;

  WeightGradWork() = default;
  /// Of the ops of one stage.
  WeightGradWork(mlir::Block &microbatch, const StagePlacement &placement, unsigned stage);

private:
  void findOnly(llvm::ArrayRef<mlir::Operation *> madeAgain);
  void findTwice(llvm::ArrayRef<mlir::Operation *> madeAgain);
  void keepWhereSlotsDoNotShrink(mlir::Block &microbatch, const StagePlacement &placement, unsigned stage);
  void moveWhatBackwardDoesNotNeed(llvm::ArrayRef<mlir::Operation *> madeAgain);
};
} // namespace hocket::step
