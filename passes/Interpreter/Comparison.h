// How far two trainings of one model are apart, tensor by tensor.
#pragma once
#include "passes/Interpreter/Interpreter.h"

namespace hocket::interpreter {

struct TensorDifference {
  std::string name;     ///< "gradient wte", "param wte"
  double relative = 0;  ///< |a - reference| / |reference|, Euclidean norms over all elements; 0 where both are 0
  double absolute = 0;  ///< |a - reference|
  double reference = 0; ///< |reference|
};

/// Difference of two tensors of one shape; infinite where shapes differ or an element is not finite.
TensorDifference differ(llvm::StringRef name, const nn::HostTensor &reference, const nn::HostTensor &other);

/// Gradients of the last step and parameters after it, in the model's order. Both have run the same number of steps.
llvm::FailureOr<llvm::SmallVector<TensorDifference>> compare(Interpreter &reference, Interpreter &other);

/// One line a tensor, greatest relative difference first.
std::string reportText(llvm::ArrayRef<TensorDifference> differences);
} // namespace hocket::interpreter
