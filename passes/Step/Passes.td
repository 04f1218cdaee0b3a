// Memory and proofs of step programs.
#ifndef HOCKET_PASSES_STEP_TD
#define HOCKET_PASSES_STEP_TD
include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"step-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer an offset, every value in a body a buffer, and the arena its size";
  let description = [{
    Runs after fusion; before it bodies compute on tensors, after it on buffers. The arena holds, in this order: parameters,
    optimizer state, accumulators, inputs (all microbatches of one input side by side), scalars; then the workspace that
    bodies share (a body's own values, packed by lifetime); then the slots, whose buffers share bytes where no microbatch needs
    them at once; update works over free slots. Offsets are multiples of 64 bytes. A value that is stored is made in place
    where that changes no other reader; else it is copied. See BodyMemory.h, SlotMemory.h.
  }];
  let dependentDialects = ["::hocket::step::StepDialect"];
}

def VerifyProgramPass : Pass<"step-verify-program", "::mlir::ModuleOp"> {
  let summary = "proves of planned programs, all stages together, that they do what they should, and end";
  let description = [{
    Reports every fault, changes nothing, and runs between step-plan-memory and code generation (which hides what kernels may
    do in place). It shares no code with the passes that make programs, and holds that
      * each stage has one program, and each layer of the model is on one stage, in order (VerifyProgram.cpp);
      * kernels exist and fit their buffers, collectives their groups (VerifyWork.cpp);
      * buffers are aligned and within arena or slot, and none that must last shares bytes with another (VerifyMemory.cpp);
      * every read finds what was last written to that very buffer: in a body byte range by byte range, across bodies by what
        begin, the messages and the bodies before have written, along every life that the tables let a microbatch have;
        results lie over operands only where kernels work in place; sums are zeroed; no body writes where a message may still
        arrive or leave (VerifyContents.cpp, BodyContents.cpp, SlotLives.h);
      * both ends of every edge agree (count, bytes, types, order), and the tables pass the judge of passes/Schedule under
        rendezvous: each body once a microbatch, what it reads is there, slots are reused only when their last reader and
        sender are done, nobody waits for ever (VerifyMessages.cpp);
      * collectives that join stages are issued alike by all members, in an order that cannot wait for itself
        (VerifyCollectives.cpp).
  }];
}
#endif
