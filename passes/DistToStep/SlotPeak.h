// What a microbatch holds of its slot at one time, before kernels and buffers are known: to choose between ways of
// making bodies. step-plan-memory has the last word (SlotMemory.h).
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {

/// Whether an op runs in a body of that kind: Forward, Backward or WeightGrad. It may run in two.
using RunsIn = llvm::function_ref<bool(mlir::Operation *, BodyKind)>;

/// The most bytes of values that one body leaves to another, or that come from other stages, at any op of the bodies
/// one after the other. `ops`: of the chunks that share a slot, in the order of the microbatch.
int64_t slotPeak(llvm::ArrayRef<mlir::Operation *> ops, RunsIn runsIn);
} // namespace hocket::step
