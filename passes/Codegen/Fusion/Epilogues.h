// Work that the library does on a product while it is in registers: cublasLt's epilogues (StepEnums.td).
//
//   y = product + b along the rows             bias        one launch, and a pass over y, less
//   the same, then gelu by tanh                bias_gelu   y is the second result: what backward needs
//   gelu of a product without bias             gelu        the product is the second result
//   product times gelu's derivative            gelu_grad
//   x' dy and the sum of dy over its rows      sum_b       the gradients of a linear's weight and bias
//   dy' x and the sum of dy over its rows      sum_a
//
// Only what cublasLt is known to compute, so that no program fails where it runs:
//   - one product, no batch; all of m, n and k above 1 (vectors are taken for other layouts)
//   - bias, matrix before gelu and sum have the result's element type (cublasLt.h, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE
//     and _EPILOGUE_AUX_DATA_TYPE)
//   - with gelu, rows of a multiple of 8 elements (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
//   - sums of the operand that is stored with its summed dimension outside, as in weight gradients (BGRADA without,
//     BGRADB with transposition, which is how training libraries call them)
//   - add to an accumulator only with sums
//
// Nothing is taken whose order another plan may change: all ops of an epilogue are of one phase (a schedule may give a
// phase a body of its own) and of one layer (stages are cut between layers), so that neither changes a bit. So the sum
// of gelu's gradient over the rows, a gradient of a bias in phase weight_grad, is no work of the product that makes
// gelu's gradient in phase backward (cublasLt's DGELU_BGRAD); and as a rule it is f32 where that product is bf16. What
// stands between them, a collective, dropout, a mask, a second use of the product, leaves the ops as they are.
// A result is rounded once where the ops would round each: the numbers are not those of the CPU, bit for bit.
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::codegen {
/// On a body after lowerProducts, with its loads at the top.
void fuseEpilogues(mlir::Block &block);
} // namespace hocket::codegen
