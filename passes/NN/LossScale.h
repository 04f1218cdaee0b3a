// The loss scale as values of the training step: its state, the seed of the backward, what an overflow does to the
// update, and the rule by which a dynamic scale moves (that of Megatron-LM and DeepSpeed).
//
// One microbatch's gradients are those of loss * scale, and so are the accumulators. `update` knows of an overflow by
// the norm, which is a sum over all parameters, ranks and stages: not finite on one rank is not finite on all, so that
// every rank skips the same steps without another message. A skipped step counts in nothing but the scale:
//
//   scale, initial 65536, hysteresis 2, floor 1, where every step overflows (what each step computed with):
//   step  1      2      3      4      …  17  18
//         65536  65536  32768  16384     2   1, and the run cannot go on: `exhausted`
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {

/// Slots: state loss_scale (good_steps, hysteresis where it is dynamic), updates; value seed; outputs.
void declareLossScale(mlir::OpBuilder &builder, mlir::Location loc, RecipeOp recipe);
/// In begin: writes the value `seed`, `inverse` (1 / counted tokens) times the scale.
void buildSeed(mlir::OpBuilder &builder, mlir::Location loc, RecipeOp recipe, mlir::Value inverse);

/// What `update` needs to know of it.
struct ScaledUpdate {
  mlir::Value scale;    ///< f32: that of the step
  mlir::Value overflow; ///< f32: 1 where `norm` is infinite or no number, else 0
  mlir::Value number;   ///< i64: of this update, 1 = the first that is applied
};
/// `norm` may be any function of all gradients that is finite only where they all are. Writes the state of the step to
/// come and the outputs loss_scale, skipped, exhausted.
ScaledUpdate buildScaledUpdate(mlir::OpBuilder &builder, RecipeOp recipe, mlir::Value norm);
} // namespace hocket::nn
