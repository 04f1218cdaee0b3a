// The lowering from where to when. What it does stands in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hocket::step {
#define GEN_PASS_DECL_DISTTOSTEPPASS
#define GEN_PASS_REGISTRATION // registerDistToStepPasses()
#include "passes/DistToStep/Passes.h.inc"
} // namespace hocket::step
