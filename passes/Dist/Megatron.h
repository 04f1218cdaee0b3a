// `split megatron`: Megatron-LM's tensor parallelism (Shoeybi et al. 2019, section 3), found by factors.
//
// A class of dimensions (DimensionClasses.h) is split over the axes if it is the heads of an attention, the inner size
// of a feed-forward block, or the vocabulary. Then the linear that makes it is split by column, the one that contracts
// it by row, and one all_reduce stands behind the latter; embedding and head are split along the vocabulary. Everything
// else (norms, learned positions, biases of row linears) stays whole. Grouped attention on more ranks than KV heads:
// the KV heads over the major part of the axes, the query heads of each over the rest; keys and values are then alike
// on the ranks of the minor part. Where the tactic says `uneven`, a degree that fits no heads splits the KV heads
// alone: ceil(kv / degree) of them, with all their query heads, on each rank as long as there are any.
#pragma once
#include "passes/Dist/DimensionClasses.h"
#include "passes/Dist/Tactics.h"

namespace hocket::dist {

/// `split "NAME" dim D over AXES`, for one parameter; `uneven`, where its heads do not divide evenly.
struct ExplicitSplit {
  nn::SlotOp param;
  int dim;
  llvm::SmallVector<AxisRef> axes;
  bool uneven = false;
};

/// What `tactic` stands for. Faults are reported there: a degree that does not fit heads, with those that do.
llvm::FailureOr<llvm::SmallVector<ExplicitSplit>> megatronSplits(const DimensionClasses &classes, SplitOp tactic,
                                                                 MeshOp mesh);

/// `split "h.*.mlp.fc.weight" dim 1 over "tp"`, as in a plan.
std::string splitText(llvm::StringRef pattern, int64_t dim, llvm::ArrayRef<AxisRef> refs);
/// The same written as tactics, layers of one form as one with `*`: `split "h.*.mlp.fc.weight" dim 1 over "tp"`.
llvm::SmallVector<std::string> explicitTactics(llvm::ArrayRef<ExplicitSplit> splits);

/// h.3.mlp.fc.weight -> h.*.mlp.fc.weight: numbers between dots become `*`.
std::string starredName(llvm::StringRef name);

/// The major part of `refs` with `size` devices, and the rest, for `size` a divisor of their product; sub-axes where
/// needed.
///   "tp" of 4, 2: "tp":(1)2 and "tp":(2)2
llvm::FailureOr<std::pair<llvm::SmallVector<AxisRef>, llvm::SmallVector<AxisRef>>>
cutAxes(MeshOp mesh, llvm::ArrayRef<AxisRef> refs, int64_t size);
} // namespace hocket::dist
