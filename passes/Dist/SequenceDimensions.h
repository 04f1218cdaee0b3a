// Which dimensions of a training step's values run over the tokens of a sequence.
#pragma once
#include "passes/Dist/DimensionTies.h"

namespace hocket::dist {

/// The dimension of an input that runs over tokens: the last of [rows, tokens] and of what begin sees of the whole
/// step, [microbatches, rows, tokens]; -1 for the number of the step and all that is no input.
int tokensDimension(nn::SlotOp slot);

class SequenceDimensions {
public:
  /// Dimensions over which one factor of an op runs are one index; those of the inputs' tokens are the sequence.
  explicit SequenceDimensions(const StepGraph &graph);
  bool contains(Node node, int dim) const;
  /// The factor of an op that runs over a sequence, where the op may be split along it and some operand or result of it
  /// has further dimensions than rows and tokens; else -1.
  int ofOp(const StepOp &op) const;

private:
  DimensionTies ties;
  llvm::SmallVector<Dimension> leaders;
};
} // namespace hocket::dist
