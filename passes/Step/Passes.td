// Memory and proofs of step programs.
#ifndef HOCKET_PASSES_STEP_TD
#define HOCKET_PASSES_STEP_TD
include "mlir/Pass/PassBase.td"

def OverlapPass : Pass<"step-overlap", "::mlir::ModuleOp"> {
  let summary = "puts the collectives that the plan's overlap tactics name, and all transfers, on streams, and awaits them as late as can be";
  let description = [{
    Runs after fusion, when it is known what work a body has, and before memory is planned, so that what is in flight has its
    place. Streams are "gradients", "parameters" and "activations". Which collectives:
      * parameters: gathers of what is loaded from parameters, or whose result only goes to parameters;
      * gradients: reductions in phase weight_grad, and of accumulators;
      * activations: all others in bodies of a microbatch, where there is work that can run beside them.
    Collectives that join stages stay on the stream that computes. A gather or a reduction of what only has to be loaded starts
    with the first use of the one before it on its stream, the first one with the body: one bucket (or layer, where buckets are
    smaller) ahead of its use. All others start when their operand is made. What only leads to stores waits for the start of the
    next one. Transfers of step-offload run on "fetch" and "offload" (TransferOrder.h). Weight gradients are moved before the first use of an activation's collective. An await stands before the first op
    that reads a result or stores where an operand was loaded from, and at the end of the body. See OverlapOrder.h.
  }];
  let dependentDialects = ["::hocket::step::StepDialect"];
}
def OffloadPass : Pass<"step-offload", "::mlir::ModuleOp"> {
  let summary = "puts what the plan's offload tactics name into the host's memory; bodies copy it out and in";
  let description = [{
    Runs on bodies of tensors, before fusion, so that memory, proofs and reports need no rules for offloading: a buffer's space
    becomes `host` (what lasts) or `host_slot` (of a microbatch), a value is copied out where it is stored and in before its first
    use in a body. Activations are values that forward leaves in a slot for backward; those sent between stages stay. Of
    parameters the copies to compute with move as well. Warns of a tactic that moves nothing.
  }];
  let options = [Option<"least", "least", "int64_t", "65536", "activations with fewer bytes on a rank stay: a copy has its cost">];
  let dependentDialects = ["::hocket::step::StepDialect"];
}

def PlanMemoryPass : Pass<"step-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer an offset, every value in a body a buffer, and the arena its size";
  let description = [{
    Runs after fusion; before it bodies compute on tensors, after it on buffers. The arena holds, in this order: parameters,
    optimizer state, accumulators, inputs (all microbatches of one input side by side), scalars; then the workspace that
    bodies share (a body's own values, packed by lifetime); then the slots, whose buffers share bytes where no microbatch needs
    them at once; update works over free slots. The host's memory likewise:
    what lasts, then its slots. Offsets are multiples of 64 bytes. A value that is stored is made in place
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
      * only transfers touch the host's memory, and copy between it and the device's (VerifyTransfers.cpp);
      * buffers are aligned and within arena or slot, and none that must last shares bytes with another (VerifyMemory.cpp);
      * every read finds what was last written to that very buffer: in a body byte range by byte range, across bodies by what
        begin, the messages and the bodies before have written, along every life that the tables let a microbatch have;
        results lie over operands only where kernels work in place; sums are zeroed; no body writes where a message may still
        arrive or leave (VerifyContents.cpp, BodyContents.cpp, SlotLives.h);
      * what runs on a stream of a body is awaited before that ends, and until then nobody writes what it reads or touches what
        it writes (VerifyStreams.cpp);
      * both ends of every edge agree (count, bytes, types, order), and the tables pass the judge of passes/Schedule under
        the semantics given: each body once a microbatch, what it reads is there, slots are reused only when their last reader and
        sender are done, nobody waits for ever (VerifyMessages.cpp);
      * collectives that join stages are issued alike by all members, in an order that cannot wait for itself
        (VerifyCollectives.cpp);
      * under nccl:R, messages and collectives of a rank that can be at work at a time are no more than R (VerifyResident.cpp).
  }];
  let options = [Option<"semantics", "semantics", "std::string", "\"rendezvous\"", "when a send is finished: rendezvous, nccl, nccl:R, buffered:K">,
                 Option<"tablesTold", "tables-told", "bool", "false", "tables have faults of order that dist-to-step has told: judges all but that order and what buffers hold along it">];
}
#endif
