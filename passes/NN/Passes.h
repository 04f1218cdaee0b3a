// The passes over nn and the pipeline made of them. What each does stands in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <string>

namespace hocket::nn {
#define GEN_PASS_DECL
#include "passes/NN/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerNNPasses()
#include "passes/NN/Passes.h.inc"

/// From what the user wrote to one training step over whole tensors: ready for shardings.
void buildNNPipeline(mlir::OpPassManager &manager, const BuildTrainingStepPassOptions &options);
/// The same as `--nn-pipeline="recipe=… rows=…"`, with the options of nn-build-training-step.
void registerNNPipeline();
} // namespace hocket::nn
