// Makes the training step of an inlined model. Names and order of what it makes, on which later layers rely:
//
// slots, in this order (P: a parameter's name, in the model's order; A: an argument of the model)
//   input A               one microbatch of it; the labels also as `A.all`, [microbatches, rows, …], for begin
//   input step            i64: the step that runs, 1 = the first
//   input draws           [rows] i32, where the model has a dropout: a random number of each sequence of a microbatch,
//                         from (seed, step, row of the global batch); 0 where nothing is trained, and then nothing is
//                         dropped
//   param P               as the model declares it, in the recipe's type; unless a group freezes P then
//                         master P (f32) where the recipe keeps masters, first_moment P, second_moment P (f32)
//   state …               with a loss scale: loss_scale, good_steps, hysteresis (f32; the last two where it is
//                         dynamic), updates (i64); then value seed (f32) = inverse_count * loss_scale and the
//                         outputs loss_scale, skipped, exhausted (f32)
//   accumulator P         one for each use of P that a gradient reaches: `P`, or `P#0`, `P#1` … where P has several
//   accumulator loss      f32: the sum of token losses
//   accumulator H.load    f32: the sum of the loads of the router in layer H, where the recipe has an auxiliary loss
//   value P               P in the type that is computed in, where parameters are kept in another
//   value inverse_count   f32: 1 / max(1, counted tokens of the whole step)
//   value count           i64: those tokens
//   output …              loss, grad_norm, learning_rate (f32), tokens (i64), and what evaluation needs
//
// begin        counts the labels of the whole step; writes the values; casts parameters, once a step.
// microbatch   one `read` for each use of a parameter or argument, with the path of the op that uses it (so a tied
//              parameter is read by each stage that uses it); the model's ops with the batch fixed (attention and
//              cross_entropy keep their log-sum-exp), computed in the recipe's type up to the loss, which is f32; loss
//              sum added to its accumulator; then the derivatives, seeded with inverse_count or seed (see Autodiff.h),
//              each gradient made in the accumulator's type and added to it: `add` whose first operand is the
//              accumulator.
// update       gradient of P = its accumulators in use order, cast to the type in which ranks exchange it (`summands`:
//              before the sum over ranks) and to f32; one vector [loss sum, loads, square sum of each trained P in the
//              model's order] (`stack dim 0`, then `unstack`), so that all ranks and stages exchange it at once;
//              grad_norm = sqrt(sum of the square sums, first to last); clip scale = min(1, clip / (grad_norm + 1e-6)),
//              1 without clip; loss = (loss sum + loads) * inverse_count; adamw for each P, in f32, on its master where
//              there is one; P itself is cast from what adamw makes. With a loss scale norm and clip scale are divided
//              by it, and where the norm is not finite, on whatever rank, every adamw leaves all as it was (`unless`):
//              see LossScale.h. What belongs to P has P's group as path (LayerPaths.h), what belongs to all has none.
// evaluate     runs instead of update after the forward phase alone: loss.
#pragma once
#include "dialect/NN/NN.h"
#include "passes/NN/ParameterSettings.h"
#include "passes/NN/Precision.h"

namespace hocket::nn {

struct TrainingStepShape {
  int64_t rows;         ///< sequences of one microbatch of all data-parallel ranks together
  int64_t microbatches; ///< rows * microbatches is the recipe's batch
};

/// Puts `nn.training_step @name` behind the recipe. The model must be inlined and have passed nn-verify-model; it stays
/// as it is. Fails with an error where shape and recipe do not agree or a parameter has no gradient.
llvm::FailureOr<TrainingStepOp> buildTrainingStep(ModelOp model, RecipeOp recipe, mlir::FlatSymbolRefAttr plan,
                                                  llvm::StringRef name, TrainingStepShape shape);

/// A parameter as the step sees it.
struct StepParameter {
  ParamOp param;
  ParameterSettings settings;
  int64_t uses = 0;                            ///< in the forward
  llvm::SmallVector<std::string> accumulators; ///< in use order
  llvm::StringRef name() { return param.getName(); }
  mlir::RankedTensorType type(mlir::FloatType element) { return Precision::with(param.getValue().getType(), element); }
};

/// A router's auxiliary loss: the sum over a microbatch's sequences, and the accumulator that carries it on.
struct RouterLoad {
  mlir::Value sum;
  std::string accumulator;
};

/// Fills `update` and `evaluate` of the step (Update.cpp).
void buildUpdate(TrainingStepOp step, RecipeOp recipe, llvm::MutableArrayRef<StepParameter> params,
                 llvm::ArrayRef<RouterLoad> loads);
void buildEvaluate(TrainingStepOp step);

/// Reads or writes a slot, with a path.
mlir::Value readSlot(mlir::OpBuilder &builder, mlir::Location loc, SlotKind kind, llvm::StringRef name,
                     mlir::RankedTensorType type, llvm::StringRef path);
void writeSlot(mlir::OpBuilder &builder, mlir::Location loc, SlotKind kind, llvm::StringRef name, mlir::Value value,
               llvm::StringRef path);
} // namespace hocket::nn
