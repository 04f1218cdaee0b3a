// Kernels of attention and of its gradient.
#pragma once
#include "passes/Codegen/CUDA/AttentionTile.h"

namespace hocket::cuda {
struct AttentionOptions {
  bool tensorCores = true;                 ///< false: the plain form for every type
  PlantedFault fault = PlantedFault::None; ///< for tests
};

/// The body of one kernel, before a launch: where its buffers are (global pointers) and its dynamic shared memory.
struct AttentionFrame {
  AttentionEmit &e;
  llvm::function_ref<mlir::Value(mlir::Value)> buffer; ///< of an operand or a result of the op
  mlir::Value scratch;                                 ///< null in the forward kernel
  mlir::Value shared;
  const AttentionOptions &options;
};
/// How a kernel is launched, always with AttentionMath::threads threads.
struct AttentionLaunch {
  std::array<int64_t, 3> grid;
  int64_t sharedBytes;
};

/// y and the log-sum-exp: a block has one tile of queries of one head.
AttentionLaunch emitAttentionForward(const AttentionFrame &frame, nn::AttentionOp op);

/// The gradient's three kernels, in order. The first writes to the scratch what the others read: of each query the
/// log-sum-exp times log2(e) (+inf where it saw nothing, so that its weights are zero) and the sum of dy y, each
/// [b, heads, s] f32. The second has a tile of queries a block and writes dq, the third a tile of keys and writes dk and
/// dv. Nothing is added from two blocks: bits do not depend on the order in which blocks run.
enum class AttentionGradPart : uint8_t { RowSums, Queries, Keys };
AttentionLaunch emitAttentionRowSums(const AttentionFrame &frame, nn::AttentionGradOp op);
AttentionLaunch emitAttentionBackward(const AttentionFrame &frame, nn::AttentionGradOp op, AttentionGradPart part);
int64_t attentionScratchBytes(nn::AttentionGradOp op);

// inside: what forward and backward ask of a tensor of the op
GlobalRows globalRows(mlir::Value tensor, mlir::Value buffer);
HeadRows headRows(AttentionEmit &e, const GlobalRows &rows, mlir::Value batch, mlir::Value head);
std::unique_ptr<AttentionMath> attentionMath(const AttentionFrame &frame, mlir::Type element,
                                             const AttentionSizes &sizes);
/// Rows of the other side that a block works on at once.
int64_t streamedRows(const AttentionFrame &frame, mlir::Type element, const AttentionSizes &sizes, bool keepsKeys);
} // namespace hocket::cuda
