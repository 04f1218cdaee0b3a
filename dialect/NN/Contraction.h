// A product of two tensors by a rule, seen as one GEMM with a batch: linear and matmul both are one.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
/// One group of factors of a contraction (they stand together, in one order, in every tensor that has them): one index
/// of the GEMM. Strides are in elements, 0 in a tensor without the group.
struct ContractionIndex {
  int64_t size = 1, strideA = 0, strideB = 0, strideY = 0;
};
/// y[batch, rows, columns] = sum over depth of a[batch, rows, depth] b[batch, columns, depth].
struct Contraction {
  ContractionIndex batch, rows, columns, depth;
  /// Of a sound rule with two operands and one result, for row-major tensors of these (local) shapes.
  Contraction(const FactorRule &rule, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b, llvm::ArrayRef<int64_t> y);
};
/// Faults of a matmul's rule text, one a string: its form, and the contiguity contract of MatmulOp.
///   "b s n d, h n d -> b s h"   none
///   "b s n d, h d n -> b s h"   contracted dimensions stand as 'n d' in a and as 'd n' in b
///   "b s h, h v -> b s"         'v' stands in b only
llvm::SmallVector<std::string> contractionFaults(llvm::StringRef rule);
} // namespace hocket::nn
