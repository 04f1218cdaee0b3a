// Activations by what they are: gelu and silu are x sigmoid(z) both, with z = linear x + cubic x^3, and so are their
// derivatives alike. Differentiation leaves a derivative as a scalar body, which is known again by making it once more.
#pragma once
#include "dialect/NN/NN.h"
#include <optional>

namespace hocket::codegen {
struct Gate {
  double linear, cubic;
  double at(double x) const { return x * (linear + cubic * x * x); }
  double slope(double x) const { return linear + 3 * cubic * x * x; }
  /// The derivative of x sigmoid(z).
  double derivative(double x) const;
};

/// Of gelu (by tanh: 1 + tanh(u) = 2 sigmoid(2 u)), silu.
std::optional<Gate> gateOf(mlir::Operation *op);
/// Of the derivative of gelu or silu, times a number: an elementwise op of that number and x, in this order. Numbers
/// of its body are f32.
std::optional<Gate> gateOfGradient(mlir::Operation *op);
bool isGeluGradient(nn::ElementwiseOp op);
} // namespace hocket::codegen
