// Every fault that op verifiers find in a module, in one run; MLIR's own verifier stops at the first.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hocket::nn {
/// Verifies op by op: names that are defined twice, then invariants, regions and uses of symbols of each op. Faults go
/// to the context's diagnostics. `skip`: ops that are not looked at (what is in them is).
void verifyEach(mlir::ModuleOp module, llvm::function_ref<bool(mlir::Operation *)> skip = nullptr);
} // namespace hocket::nn
