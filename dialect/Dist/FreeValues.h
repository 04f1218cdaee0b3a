// Values that cost nothing to make: nobody has to keep or send them.
#pragma once
#include "mlir/IR/Operation.h"

namespace hocket::dist {
/// A value that every stage, and every body of a microbatch, can make for itself: reads of slots, and what depends on
/// nothing but the rank and the numbers that begin makes (positions, offsets, constants, one over the count of tokens).
bool isFree(mlir::Operation *op);
} // namespace hocket::dist
