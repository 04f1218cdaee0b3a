// Reverse-mode differentiation of a straight line of nn ops (Griewank and Walther, "Evaluating Derivatives", chapter
// 3).
#pragma once
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseSet.h"

namespace hocket::nn {

/// Derives gradients of `leaves` from gradients of some results, by each op's DifferentiableOpInterface.
///
/// Order: ops are visited from the last to the first, and a value's gradient is the sum of its uses' contributions, the
/// latest use first: ((last + last but one) + …). So what a later stage adds is a prefix of the sum, complete before it
/// is sent, and where stages are cut changes no bit.
///
/// Each op made gets the path of the op whose derivative it is part of, and its phase: `backward` if an activation's
/// gradient depends on it, `weight_grad` if only leaves' gradients do.
class ReverseMode {
public:
  /// Makes ops at the builder's place, which must lie behind all ops visited, in the same block, and stay there.
  /// `onLeaf` is called once for each leaf that a gradient reaches, when it is complete; ops that it makes there are
  /// part of the phase weight_grad.
  ReverseMode(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> leaves,
              llvm::function_ref<void(mlir::Value leaf, mlir::Value gradient)> onLeaf);

  /// The gradient of `value` to start from.
  void seed(mlir::Value value, mlir::Value gradient) { gradients[value] = gradient; }

  /// `ops` in program order. Fails, with an error at the op, where a gradient must pass through an op without a
  /// derivative.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);

private:
  llvm::LogicalResult visit(mlir::Operation *op);
  void contribute(mlir::Value value, mlir::Value gradient, mlir::Location loc);
  void finishPhases(mlir::Operation *lastForward);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> leaves;
  llvm::DenseSet<mlir::Value> varied; ///< depend on a leaf
  llvm::function_ref<void(mlir::Value, mlir::Value)> onLeaf;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
  llvm::SmallVector<mlir::Value> activationGradients;
};
} // namespace hocket::nn
