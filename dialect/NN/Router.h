// Which experts a router chooses, and how sure it is.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
/// The `top` greatest of `count` numbers, greatest first, the lower index where two are equal.
llvm::SmallVector<int64_t> greatest(const double *numbers, int64_t count, int64_t top);
/// The smallest difference, over all rows of `logits`, between the least number that is chosen and the greatest that is
/// not; infinite where all are chosen. Below the rounding of a plan's sums a choice may fall either way.
double routerMargin(const HostTensor &logits, int64_t top);
/// Tokens of a sequence that an expert takes: ceil(top * tokens * factor / experts), what is a whole number but for
/// rounding taken as one.
///   top 2, 128 tokens, factor 1.25, 8 experts: 40
int64_t expertCapacity(int64_t top, int64_t tokens, double factor, int64_t experts);
} // namespace hocket::nn
