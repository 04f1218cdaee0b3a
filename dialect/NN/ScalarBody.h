// Scalar bodies (arith and math ops on scalars, ended by nn.return): which ops they may have, and what they compute.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
/// gelu is x/2 (1 + tanh(geluSlope (x + geluCubic x^3))); the slope is sqrt(2/pi).
inline constexpr double geluSlope = 0.7978845608028654, geluCubic = 0.044715;

/// True for ops that a body may have: those the evaluator and the derivative both know.
bool isScalarOp(mlir::Operation &op);
/// "arith.absf, …": for messages.
std::string scalarOpList();

/// A body made ready to run on many elements, in float64 (extf and truncf change nothing). The body is sound: see
/// ElementwiseOp's verifier.
class ScalarProgram {
public:
  explicit ScalarProgram(mlir::Block &body);
  /// One value an argument in, one a returned value out.
  void run(llvm::ArrayRef<double> arguments, llvm::MutableArrayRef<double> results);

private:
  using Function = double (*)(double, double, double);
  struct Step {
    Function apply;
    int inputs[3];
    int output;
  };
  int slotOf(mlir::Value value);

  llvm::DenseMap<mlir::Value, int> slots;
  std::vector<double> values; ///< arguments, then constants and results of steps
  std::vector<Step> steps;
  llvm::SmallVector<int> returned;
};

/// Gives every result its elements from `program`'s; an operand of lower rank is repeated along the leading dimensions.
void runElementwise(ScalarProgram &program, llvm::ArrayRef<const HostTensor *> operands,
                    llvm::MutableArrayRef<HostTensor> results);
} // namespace hocket::nn
