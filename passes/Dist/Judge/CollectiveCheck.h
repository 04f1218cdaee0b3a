// Judges collectives, slices and masks by what they do to the state of a value.
#pragma once
#include "passes/Dist/Judge/Claims.h"

namespace hocket::dist::judge {

/// Checks C16 to C20 for all_reduce, reduce_scatter, all_gather, all_to_all, slice and mask; takes note of what masks
/// leave in padding. False if `op` is none of these.
bool checkCollective(Claims &claims, mlir::Operation *op);
} // namespace hocket::dist::judge
