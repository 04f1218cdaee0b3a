// Judges what the numbers of ranks do to an op: where its shard begins, and what lies past the end of a short shard.
#pragma once
#include "passes/Dist/Judge/FactorCheck.h"

namespace hocket::dist::judge {

/// C14: an op is told the offset of a split factor that needs one, that of this factor, and none of a whole one.
void checkOffset(Claims &claims, mlir::Operation *op, const nn::FactorRule &rule, llvm::ArrayRef<FactorSplit> splits);

/// C15: where an op reduces over a factor with padding, every operand that has it was masked with the neutral element:
///   0 for sums (all operands of a product: 0 times NaN is NaN), -inf for a maximum and under row_sum_exp's exp,
///   -1 for labels.
/// Dimensions read at given numbers (rows of a table) need none where padding follows the last element only.
void checkPadding(Claims &claims, mlir::Operation *op, const nn::FactorRule &rule, llvm::ArrayRef<FactorSplit> splits);
} // namespace hocket::dist::judge
