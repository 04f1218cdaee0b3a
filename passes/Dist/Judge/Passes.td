// The judge of partitioned programs.
#ifndef HOCKET_PASSES_DIST_JUDGE_TD
#define HOCKET_PASSES_DIST_JUDGE_TD
include "mlir/Pass/PassBase.td"

def VerifyPartitionPass : Pass<"dist-verify-partition", "::mlir::ModuleOp"> {
  let summary = "recomputes what each local value is a shard or partial of, and compares with what the program claims";
  let description = [{
    Looks at partitioned training steps only: local types, and on every result, write and slot a #dist.shard of what it is.
    Each op is judged by the claims of its operands, its factor rule, its linearity and, for collectives, their meaning; so
    a fault is told where it is made and once, and all faults are told in one run. What is checked stands in
    passes/Dist/Judge/PartitionJudge.h, each constraint with its label. A step without any #dist.shard that is under no plan
    is not partitioned and is left alone.
  }];
}
#endif
