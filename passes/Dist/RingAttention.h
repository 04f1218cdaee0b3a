// Attention over a sequence that is split over ranks, by a ring (Liu et al. 2023, "Ring Attention", section 3): every
// rank keeps its queries, and blocks of keys and values go around, one step at a time.
//   forward    step i: the block of the rank i places before; its output and log-sum-exp are merged into those so far
//   backward   step i: the same block again; the whole log-sum-exp and output make the share of its gradient exact.
//              Gradients of keys and values travel with their block and come home with the last step
// Of n ranks each sends 2 (n-1) blocks forward and 4 (n-1) backward, as much as gathering keys and values, gathering
// them again, and scattering the sums of their gradients; but holds two blocks of keys at a time instead of n.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {

/// Replaces `attention` (a local nn.attention or nn.attention_grad marked `ring`, over the rank's own block) by n steps
/// over the blocks of all ranks along `axes`. Returns what stands for its results; `attention` is erased.
llvm::SmallVector<mlir::Value> emitRing(mlir::Operation *attention, MeshOp mesh, AxesAttr axes, llvm::StringRef cause);
} // namespace hocket::dist
