// The parts of step-verify-program (internal to passes/Step). Each reports every fault it finds; none changes the IR.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Schedule/RowGraph.h"

namespace hocket::step {

/// The programs of all stages of one job, and who is told of faults.
struct VerifyContext {
  JobOp job;
  dist::MeshOp mesh;
  mlir::StringAttr stageAxis;            ///< null: one stage
  llvm::SmallVector<ProgramOp> programs; ///< by stage, one each
  mlir::SymbolTable &symbols;
  schedule::Semantics semantics = {}; ///< of sends
  bool sound = true;

  /// An error at `at` that begins with "stage N: ", or "stage N, BODY: " for an op in a body.
  mlir::InFlightDiagnostic fault(mlir::Operation *at);
  /// Stages that take part in a collective; all bits that are set are below programs.size().
  llvm::SmallVector<unsigned> members(CollectiveOp collective) const;
  bool spansStages(CollectiveOp collective) const;
};

/// The kind that schedules know: that of the body which a final one is a copy of, and of all others their own.
///   final_backward -> backward;  final_weight_grad -> weight_grad;  update -> update
BodyKind scheduledKind(BodyKind kind);

/// What an op of a body does and for which part of the model: "gemm of h.3.attn.qkv".
std::string sayWork(mlir::Operation *op);
/// Everything that the op reads and writes, in order.
llvm::SmallVector<mlir::Value> readsOf(mlir::Operation *op);
llvm::SmallVector<mlir::Value> writesOf(mlir::Operation *op);

/// One program a stage, planned; every layer of the model on exactly one, in order, and its ops there. False if
/// programs are missing, so that nothing that spans stages can be judged.
bool verifyStages(VerifyContext &context);
/// Both ends of every edge carry the same buffers, in slots, side by side.
void verifyMessages(VerifyContext &context);
/// The tables of each entry, all stages together, before the judge of passes/Schedule.
void verifySchedules(VerifyContext &context);
/// Collectives that join stages are issued in the same order, with the same sizes, by all of their members.
void verifyCollectives(VerifyContext &context);
/// Under nccl:R no more communication kernels of a rank can be at work at a time than are stated.
void verifyResident(VerifyContext &context);
/// Kernels exist and fit their buffers; sizes of collectives fit their groups.
void verifyWork(VerifyContext &context);
/// Transfers are between device and host; nothing else touches the host's memory.
void verifyTransfers(VerifyContext &context);
/// Offsets are aligned and within their space; what must last does not overlap anything.
void verifyLayout(VerifyContext &context);
/// Every read finds what was meant: within a body no byte is overwritten between its write and its read, and across
/// bodies of a microbatch each buffer is written, or received, before it is read or sent.
void verifyContents(VerifyContext &context);
/// What runs on a stream is awaited before the body ends, and until then nobody touches what it writes, or writes what
/// it reads.
void verifyStreams(VerifyContext &context);
} // namespace hocket::step
