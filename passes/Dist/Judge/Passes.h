// The pass dist-verify-partition; what it checks stands in PartitionJudge.h.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hocket::dist {
#define GEN_PASS_DECL
#include "passes/Dist/Judge/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerPartitionJudgePasses()
#include "passes/Dist/Judge/Passes.h.inc"
} // namespace hocket::dist
