// One plan of a module through every layer.
#pragma once
#include "mlir/IR/OwningOpRef.h"
#include "passes/Analysis/BatchShape.h"
#include "tools/hocket/PlanChoice.h"

namespace hocket::tools {

/// The layers of the compiler, in order; what `--emit` names.
enum class Layer { NN, Sharded, Local, Step, Kernels };

/// A copy of the session's module lowered under the plan as far as `until`; errors have been reported where it is null.
/// The session's module is not touched.
///   NN       one training step over whole tensors
///   Sharded  every value has a sharding
///   Local    the program of one rank: local types, collectives; judged
///   Step     one program a stage: bodies, messages, schedules; values in bodies are tensors
///   Kernels  fused, memory planned, verified; kernels are functions
mlir::OwningOpRef<mlir::ModuleOp> lower(Session &session, const PlanChoice &choice, const analysis::BatchShape &shape,
                                        Layer until);

/// Reports all that is wrong with a plan, going on after a fault with what does not depend on it. True if nothing is.
bool checkPlan(Session &session, const PlanChoice &choice);
} // namespace hocket::tools
