// linear and matmul become products of the vendor's library.
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::codegen {
/// A row-major product with a batch, as a BLAS takes it: result[m, n] = op(a) op(b).
struct ProductShape {
  bool swapped = false; ///< the product's a is the op's b
  bool transA = false, transB = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t leading[3] = {1, 1, 1}, strides[3] = {0, 0, 0}; ///< of a, b, result, in elements
};
/// Nothing if no single product (with one batch) computes the op: a message is then emitted at it.
mlir::FailureOr<ProductShape> productShape(mlir::Operation *op);
/// Replaces every linear and matmul of a body by `step.gemm`.
mlir::LogicalResult lowerProducts(step::BodyOp body);
} // namespace hocket::codegen
