// The passes over step programs. What each does stands in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hocket::step {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION // registerStepPasses()
#include "passes/Step/Passes.h.inc"
} // namespace hocket::step
