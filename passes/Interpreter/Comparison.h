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

/// How many tokens a layer's router sent elsewhere. A choice is a step, not a slope: where two experts are nearly equal
/// a rounding of the logits turns it, and the gradients of a whole token go to other experts.
struct ChoiceDifference {
  std::string layer;
  int64_t tokens = 0;    ///< routed, in all steps
  int64_t elsewhere = 0; ///< not to the same set of experts
};
/// By layer. Both have recorded their choices in the same steps.
llvm::SmallVector<ChoiceDifference> compareChoices(const Interpreter &reference, const Interpreter &other);
/// One line a layer; empty without routers.
std::string reportText(llvm::ArrayRef<ChoiceDifference> differences);

/// One line a tensor, greatest relative difference first.
std::string reportText(llvm::ArrayRef<TensorDifference> differences);
} // namespace hocket::interpreter
