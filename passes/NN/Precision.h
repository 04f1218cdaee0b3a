// What the recipe's `precision` makes of the types of a model, which is written in f32.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {

/// The float types of a training step; f32 for all where the recipe says nothing. See PrecisionOp.
struct Precision {
  mlir::FloatType f32, params, compute, accumulate, reduce;
  /// True where the optimizer works on a wider copy of every parameter (always f32).
  bool masters = false;

  explicit Precision(RecipeOp recipe);
  /// `type` with another float type; types of integers stay.
  static mlir::RankedTensorType with(mlir::RankedTensorType type, mlir::FloatType element);
  /// True for parameters that `begin` casts once a step, and the forward reads as values. A number without dimensions
  /// is cast where it is used.
  bool castsInBegin(mlir::RankedTensorType param) const { return params != compute && param.getRank() > 0; }
};

/// A cast of `value` to `element` at the builder's place, with `path`; the value itself if it is of that type.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::FloatType element,
                   llvm::StringRef path, bool summands = false);

/// Takes away casts to a wider type by making their operands of it, where these are results that are rounded once
/// (MayWiden), or sums, stacks and slices of such, and nothing else uses them: gradients of parameters come out of the
/// op that contracts without having been narrow.
void foldWideningCasts(mlir::Block &block);
} // namespace hocket::nn
