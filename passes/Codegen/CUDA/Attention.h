// Kernels of attention and of its gradient.
#pragma once
#include "passes/Codegen/CUDA/AttentionTile.h"
#include "passes/Codegen/CUDA/StepKernel.h"

namespace hocket::cuda {
struct AttentionOptions {
  bool tensorCores = true; ///< false: the plain form for every type
};

/// y and the log-sum-exp, in one kernel: a block has one tile of queries of one head.
mlir::LogicalResult emitAttention(mlir::func::FuncOp kernel, nn::AttentionOp op, mlir::ModuleOp into,
                                  const AttentionOptions &options = {});
/// Three kernels. The first writes to the scratch what the others read: of each query the log-sum-exp times log2(e)
/// (+inf where it saw nothing, so that its weights are zero) and the sum of dy y, each [b, heads, s] f32. The second
/// has a tile of queries a block and writes dq, the third a tile of keys and writes dk and dv. Nothing is added from
/// two blocks: bits do not depend on the order in which blocks run.
mlir::LogicalResult emitAttentionGrad(mlir::func::FuncOp kernel, nn::AttentionGradOp op, mlir::ModuleOp into,
                                      const AttentionOptions &options = {});

// ---- inside ---------------------------------------------------------------------------------------------------------
/// What a kernel's body is written with.
struct AttentionFrame {
  AttentionEmit &e;
  const GpuFrame &gpu;
  mlir::Value scratch; ///< null in the forward kernel
  mlir::Value shared;  ///< dynamic
  const AttentionOptions &options;
  /// Of an operand or a result of the op; null if it is not returned.
  mlir::Value buffer(mlir::Value tensor) const;
};
Launch emitAttentionForward(const AttentionFrame &frame, nn::AttentionOp op);
Launch emitAttentionRowSums(const AttentionFrame &frame, nn::AttentionGradOp op);
Launch emitAttentionBackward(const AttentionFrame &frame, nn::AttentionGradOp op, bool keepsKeys);

GlobalRows globalRows(const AttentionFrame &frame, mlir::Value tensor);
HeadRows headRows(AttentionEmit &e, const GlobalRows &rows, mlir::Value batch, mlir::Value head);

/// Which products a kernel is made of, and with which tiles.
class AttentionForm {
public:
  AttentionForm(const AttentionFrame &frame, mlir::Type element, const AttentionSizes &sizes);
  /// Rows of the other side that a block works on at once. Fewer where a block keeps keys: it has two sums to keep, and
  /// over 64 elements a head they would not fit the registers beside 64 queries' weights.
  int64_t streamedRows(bool keepsKeys) const;
  std::unique_ptr<AttentionMath> math;

private:
  bool tensorCores, wide;
};
} // namespace hocket::cuda
