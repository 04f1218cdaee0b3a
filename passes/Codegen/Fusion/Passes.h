// Which ops run together (pass codegen-fuse). What it does stands in Passes.td.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hocket::codegen {
#define GEN_PASS_DECL
#include "passes/Codegen/Fusion/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerCodegenFusionPasses()
#include "passes/Codegen/Fusion/Passes.h.inc"

/// On a kernel function: pairs (result, operand), flat, where the result may take the operand's memory (array<i64>).
inline constexpr llvm::StringLiteral inPlaceAttr = "hocket.in_place";
/// On a kernel function made of several kernels that share a launch: how many ops each has, in order (array<i64>).
inline constexpr llvm::StringLiteral partsAttr = "hocket.parts";
} // namespace hocket::codegen
