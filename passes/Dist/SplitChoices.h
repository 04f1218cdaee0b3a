// What `split auto` chooses among: for each class of dimensions (DimensionClasses.h) whether the axes split it.
//
//   - Classes of one attention are decided together: KV heads over the major part of the axes, query heads of each over
//     the rest, in every way that divides both. Where none does, also over a part of the axes.
//   - Classes whose ops are the same are one choice: layers of one form, whatever their parameters are called.
//   - A class that an op needs whole (hidden size under a norm) is never split, nor are rows of learned positions, for
//     they are the sequence; and one that an earlier tactic split over these axes is not asked again.
#pragma once
#include "passes/Dist/Megatron.h"

namespace hocket::dist {

struct SplitOption {
  std::string what;                        ///< "vocabulary", "2 x 4 heads"; "whole" for none
  llvm::SmallVector<ExplicitSplit> splits; ///< of every layer
};

/// The first option is "whole".
struct SplitChoice {
  std::string what;
  llvm::SmallVector<SplitOption> options;
};

/// `taken`: dimensions of parameters that earlier tactics split over these axes.
llvm::SmallVector<SplitChoice> splitChoices(const DimensionClasses &classes, llvm::ArrayRef<AxisRef> axes, MeshOp mesh,
                                            llvm::ArrayRef<std::pair<nn::SlotOp, int>> taken);
} // namespace hocket::dist
