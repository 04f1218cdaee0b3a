// The passes of the where layer and the pipeline made of them. What each does stands in Passes.td.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <optional>

namespace hocket::dist {
#define GEN_PASS_DECL
#include "passes/Dist/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerDistPasses()
#include "passes/Dist/Passes.h.inc"

struct DistPipelineOptions {
  bool stopAfterShardings = false;   ///< leaves the global program with its shardings
  int64_t zeroWholeBelow = 64 << 10; ///< bytes of a parameter below which ZeRO leaves its state whole
  /// What a rank may send in a step without a tactic that asks for it (dist-verify-planned-transfers); no limit
  /// without.
  std::optional<int64_t> maxImplicitBytes = {};
};
/// From one training step over whole tensors and its plan to the program of one rank.
void buildDistPipeline(mlir::OpPassManager &manager, const DistPipelineOptions &options = {});
} // namespace hocket::dist
