// Which collectives of a local program the plan asks for, and which only came about: implicit ones.
//
// A collective is planned if it is what one of its plan's tactics is known to cost:
//   all_reduce, reduce_scatter   a sum (or extreme) over something that a tactic splits: the contraction of a
//                                row-parallel linear, a vocabulary, sequences of the batch; a parameter's gradient
//                                over its stages
//   over axes of `zero`          parameters, their state and gradients, gathered and scattered: what is read from a
//                                slot of these or written to one
//   over axes of `sequence`      the sequence dimension of activations, gathered
//   over axes of `context`       whatever moves in a microbatch
//   over axes of `experts`       all_to_all in a microbatch
//   of a manual region           whatever its converts say
// Any other is implicit: a value made split one way and needed another, where no tactic asked for both. So are a weight
// or its gradient gathered over axes of `split`, and activations between two tactics that split one index differently.
//
// What would remove an implicit one is a tactic: the split that its value already has, said of the parameter itself; or
// the split of the parameter that its user multiplies it with. Where the user needs the dimension whole, there is none.
#pragma once
#include "passes/Dist/StepCost.h"

namespace hocket::dist {

struct PlannedTransfer {
  mlir::Operation *op;
  llvm::SmallVector<AxisRef> axes;
  int64_t times = 1;    ///< in a step
  double sentBytes = 0; ///< by one rank each time, by rings (StepCost.h)
  bool planned = true;
  std::string remedy; ///< of implicit ones, "`split "h.*.mlp.fc.weight" dim 1 over "tp"`"; empty where there is none
};

/// Of `begin`, `microbatch` and `update` of a local program, in order.
llvm::SmallVector<PlannedTransfer> transfersOf(nn::TrainingStepOp local, PlanOp plan, MeshOp mesh);
} // namespace hocket::dist
