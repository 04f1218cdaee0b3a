// Why a collective is there, in words: the tactic, then the op that needs it.
//   split h.*.attn.proj.weight dim 0 over tp: linear of h.0.attn.proj sums over n=8
//   batch over dp: the gradient of wte is a sum over sequences
//   zero 1 over dp: param wte at rest is whole over dp
//   zero 3 over dp gather kept: linear of h.0.attn.qkv uses h.0.attn.qkv.weight
#pragma once
#include "passes/Dist/Origins.h"
#include "passes/Dist/Reshard.h"

namespace hocket::dist {

class Causes {
public:
  Causes(const Propagation &propagation, PlanOp plan)
      : propagation(propagation), origins(propagation, plan), plan(plan) {}

  /// Of one step of the reshard that brings `value` to `use`.
  std::string of(mlir::Value value, mlir::OpOperand &use, const ReshardStep &step) const;

  /// Of what goes around in a ring over `refs`.
  std::string ofRing(mlir::Operation *attention, llvm::ArrayRef<AxisRef> refs) const;

private:
  std::string joining(mlir::Value value, mlir::OpOperand &use, const ReshardStep &step) const;
  std::string moving(mlir::OpOperand &use, const ReshardStep &step) const;
  std::optional<std::string> byZero(mlir::Value value, mlir::OpOperand &use, const ReshardStep &step) const;
  bool overBatch(llvm::ArrayRef<Atom> atoms) const;
  std::string tacticOverAxes(llvm::ArrayRef<Atom> atoms, bool inUpdate) const;
  const Propagation &propagation;
  Origins origins;
  PlanOp plan;
};
} // namespace hocket::dist
