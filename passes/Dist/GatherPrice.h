// When ZeRO-3 gathers its parameters, as a matter of price: bytes on the wire against bytes of memory.
//
// Of Ψ parameters over n ranks with m microbatches a step sends, times (n-1)/n:
//   per_use       2mΨ gathered, mΨ scattered   holds one layer at a time
//   kept           mΨ gathered, mΨ scattered   holds what the microbatches in flight use
//   once            Ψ gathered, mΨ scattered   holds all of them
//   once_partial    Ψ gathered,  Ψ scattered   holds all of them, and all accumulators
#pragma once
#include "passes/Dist/Tactics.h"

namespace hocket::dist {

struct SplitParameter {
  nn::SlotOp slot;
  ShardingAttr used, split;
};

struct GatherPrice {
  Gather gather;
  int64_t wireBytes;   ///< a rank's collectives of parameters and gradients in a step, times n/(n-1)
  int64_t memoryBytes; ///< a rank's parameters, what is gathered of them, and accumulators
};

/// All ways, in the order of `Gather`. Counts a parameter once for each use, as it is gathered; stages share the layers
/// evenly, and hold as many microbatches in flight as there are stages.
llvm::SmallVector<GatherPrice> gatherPrices(nn::TrainingStepOp step, MeshOp mesh, int64_t stages,
                                            llvm::ArrayRef<SplitParameter> params);

/// The way with the least product of both: twice the bytes on the wire for half of the memory is a draw, which the one
/// with less memory wins. A remark at the tactic says what was chosen, and all prices. Where memory is bounded the tool
/// tries ways from the cheapest on the wire instead.
Gather chooseGather(nn::TrainingStepOp step, MeshOp mesh, llvm::ArrayRef<SplitParameter> params);
} // namespace hocket::dist
