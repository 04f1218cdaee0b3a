// Memory and proofs of step programs.
#ifndef HOCKET_PASSES_STEP_TD
#define HOCKET_PASSES_STEP_TD
include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"step-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer an offset, every value in a body a buffer, and the arena its size";
  let description = [{
    Runs after fusion; before it bodies compute on tensors, after it on buffers. The arena holds, in this order: parameters,
    optimizer state, accumulators, inputs (all microbatches of one input side by side), scalars; then the workspace that
    bodies share (a body's own values, packed by lifetime); then the slots. Offsets are multiples of 64 bytes. A value that is
    stored is made in place where that changes no other reader; else it is copied. See BodyMemory.h.
  }];
  let dependentDialects = ["::hocket::step::StepDialect"];
}
#endif
