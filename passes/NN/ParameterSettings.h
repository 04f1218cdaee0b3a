// What the recipe says of one parameter: its rate, decay, whether it is frozen; and where the loss needs it.
#pragma once
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseSet.h"

namespace hocket::nn {

struct ParameterSettings {
  double lrScale = 1;
  double weightDecay = 0;
  bool frozen = false;
};

/// The settings of a parameter of an inlined model. Decay is the optimizer's for a matrix and 0 for all else, unless a
/// group says otherwise. Groups must not set one thing twice: check with `verifyGroups` first (the first one is taken).
ParameterSettings settingsOf(RecipeOp recipe, ParamOp param);

/// True if a use takes the parameter as a matrix: the weight of a linear or matmul or the table of an embedding, also
/// after unstack or stack. Tables of learned positions are matrices; gains and biases are none, whatever their rank.
bool isMatrix(ParamOp param);

/// Patterns that fit no parameter, and things that two groups set on one parameter; every fault is reported.
llvm::LogicalResult verifyGroups(RecipeOp recipe, llvm::ArrayRef<ParamOp> params);

/// The values of an inlined model that the loss sum (its first result) depends on by differentiable ops.
llvm::DenseSet<mlir::Value> valuesOnLossPath(ModelOp model);
} // namespace hocket::nn
