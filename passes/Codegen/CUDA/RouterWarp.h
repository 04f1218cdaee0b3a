// What the router's kernels share: a warp has one token, each lane every 32nd expert.
#pragma once
#include "passes/Codegen/CUDA/SpecialEmitters.h"

namespace hocket::cuda {
struct RouterWarp {
  using Values = llvm::SmallVector<mlir::Value>;
  GpuEmit &e; ///< of one lane: numbers are scalars
  int64_t batch, tokens, experts, top;
  bool sigmoid, normalized;
  double scale, balance;
  mlir::Value logits, lane;
  mlir::Type f32, i32;
  Values scores, places; ///< of this lane's experts; their numbers (i64). Beyond the experts: no score.

  template <typename OpT>
  RouterWarp(GpuEmit &e, GpuFrame &frame, OpT op)
      : e(e), batch(op.getLogits().getType().getDimSize(0)), tokens(op.getLogits().getType().getDimSize(1)),
        experts(op.getLogits().getType().getDimSize(2)), top(op.getTopAttr().getInt()),
        sigmoid(op.getScores() == nn::ScoreKind::Sigmoid), normalized(op.getNormalized()),
        scale(op.getScale().convertToDouble()), balance(op.getBalance().convertToDouble()),
        logits(frame.buffer(op.getLogits())), f32(e.getF32Type()), i32(e.getI32Type()) {}

  int64_t slots() const { return (experts + 31) / 32; }
  mlir::Value real(double value) { return e.number(value, f32); }
  double partOfOne() const { return 1.0 / static_cast<double>(tokens * top); } ///< of a sequence's choices
  mlir::Value exists(int64_t slot);                                            ///< i1: has this lane such an expert
  /// Reads the token whose logits begin at `row`, fills `scores`; returns the sum of them all.
  mlir::Value score(mlir::Value row, mlir::Value ownLane);
  /// The experts that the token of the last `score` chooses, best first (i64, the same in all lanes).
  Values choose();
  mlir::Value joined(Reduction kind, mlir::Value number);
  /// The number that the owner of an expert has among `values` (one for each slot), in all lanes.
  mlir::Value ofExpert(llvm::ArrayRef<mlir::Value> values, mlir::Value expert);

private:
  Values own; ///< logits of this lane's experts; -inf beyond
};
} // namespace hocket::cuda
