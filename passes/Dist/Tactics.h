// Tactics as people read them, and which tactic a slot's sharding comes from.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {

/// `dp`, `tp:(1)2`, `{pp, dp}`: axes without quotes, for messages and causes.
std::string plainAxes(llvm::ArrayRef<AxisRef> refs);
/// A tactic as written, without quotes: `split h.*.attn.qkv.weight dim 2 over tp`, `zero 1 over dp`.
std::string tacticText(mlir::Operation *tactic);
/// The axes of a tactic; none for a batch that is not split.
llvm::ArrayRef<AxisRef> tacticAxes(mlir::Operation *tactic);

/// Axes of more than one device along which ranks compute with other data, so that gradients are sums over them.
llvm::SmallVector<AxisRef> dataAxes(PlanOp plan, MeshOp mesh);
/// What is left of `axes` where those of `taken`'s dimensions are used up, axes of one device left out.
///   {dp} without {tp} is {dp}; {dp, cp} without {dp} is {cp}; dp=4 without "dp":(1)2 is "dp":(2)2
llvm::SmallVector<AxisRef> axesLeft(MeshOp mesh, llvm::ArrayRef<AxisRef> axes, ShardingAttr taken);

/// A parameter's name from an accumulator's: `wte#1` is a use of `wte`.
llvm::StringRef parameterOf(llvm::StringRef accumulator);
bool overlaps(llvm::ArrayRef<AxisRef> refs, const AxisRef &ref);

/// The tactic that splits dimension `dim` of `slot` over `ref`; null if the plan names none (it was found by
/// propagation).
mlir::Operation *tacticOf(PlanOp plan, nn::SlotOp slot, int64_t dim, const AxisRef &ref);
/// The plan of a step and its mesh; null, with an error at the step, where they are missing.
PlanOp planOf(nn::TrainingStepOp step);
MeshOp meshOf(PlanOp plan);
/// Does `work` on each training step of `module` that is under a plan; fails if it fails on any, or a plan or mesh is
/// missing.
llvm::LogicalResult
forEachPlannedStep(mlir::ModuleOp module,
                   llvm::function_ref<llvm::LogicalResult(nn::TrainingStepOp, PlanOp, MeshOp)> work);
} // namespace hocket::dist
