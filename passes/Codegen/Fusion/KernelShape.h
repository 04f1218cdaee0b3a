// Whether ops can be one kernel, and over what it runs. Fusion asks this to group ops, code generation to emit them.
//
// A kernel runs over a domain of rows x columns elements. Every value in it lives in one space:
//   Full    one number an element       the residual stream, gelu's input
//   Row     one number a row            a row's maximum, its log-sum-exp, its label
//   Column  one number a column         a bias gradient
// A norm's row is a row; a bias has as many elements as there are columns, or as a few rows together.
#pragma once
#include "dialect/Step/Step.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace hocket::codegen {
enum class Space : uint8_t { Full, Row, Column };

/// How an op takes part in kernels.
///   Element  does the same to every element                        add, gelu, adamw, mask, rows of an embedding, slices
///   Rows     needs whole rows; its results are Full or Row         layer_norm, row_max, pick
///   Columns  reduces over the rows; its results are Column         sum, layer_norm_param_grad
///   Spread   writes its result elsewhere than where it computes,   stack, unpack
///            so that no op of the kernel can read it
///   Alone    is a kernel of its own                                attention, rope, embedding_grad
///   Product  is no kernel but a product of the vendor's library    linear, matmul
///   Other    is no computation                                     load, store, collective
enum class Role : uint8_t { Element, Rows, Columns, Spread, Alone, Product, Other };
Role roleOf(mlir::Operation *op);

/// Elements of the dimensions of a tensor from `firstDim` on.
int64_t elementsOf(mlir::Value tensor, int64_t firstDim = 0);

struct KernelShape {
  int64_t rows = 0, columns = 0;
  llvm::DenseMap<mlir::Value, Space> spaces; ///< of every result of the kernel's ops

  int64_t elements() const { return rows * columns; }
  /// The space in which `op` reads an operand that has `elements` elements and is made outside of the kernel; `in` is
  /// the space of the op. An operand of one element is the same everywhere.
};

/// The shape of the kernel made of `ops` (in order, none of them Product or Other), nothing if they cannot be one
/// kernel.
std::optional<KernelShape> kernelShape(llvm::ArrayRef<mlir::Operation *> ops);

/// The space in which an op of role Element, Rows or Columns reads operand `index`; nothing for operands that it reads
/// in its own way (ids, the table of an embedding, offsets).
std::optional<Space> operandSpace(mlir::Operation *op, unsigned index, const KernelShape &shape);
} // namespace hocket::codegen
