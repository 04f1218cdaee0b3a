// The products of attention, by one block of threads. A kernel (AttentionForward, AttentionBackward) is written once,
// over this interface; what a product is made of has two forms:
//   tensor cores  bf16 and f16, rows of a multiple of 8 elements: mma.sync m16n8k16, ldmatrix, cp.async
//   plain         any float type and size: f32 in shared memory, fused multiply-adds
//
// A block of four warps works on `rows` rows, of which each warp owns rows/4 whole ones: a product has one value for
// each row and each column of the other matrix, spread over the lanes of the warp that owns the row.
#pragma once
#include "passes/Codegen/CUDA/AttentionEmit.h"
#include <memory>
#include <optional>

namespace hocket::cuda {
/// Rows in global memory: [batches, count, heads, width].
struct GlobalRows {
  mlir::Type element;
  mlir::Value base;
  int64_t count, heads, width;
};
/// Rows of one head in global memory: `first` is the element where row 0 of its sequence begins.
struct HeadRows {
  const GlobalRows *rows;
  mlir::Value first; ///< i64
  int64_t stride() const { return rows->heads * rows->width; }
};
/// A matrix in shared memory: rows of `padded` elements (zero beyond `width`), `stride` apart.
struct SharedRows {
  mlir::Type element;
  mlir::Value base;
  int64_t rows, width, padded, stride;
};

class AttentionMath {
public:
  using Values = AttentionEmit::Values;
  static constexpr int64_t threads = 128, warps = 4;
  virtual ~AttentionMath() = default;
  static std::unique_ptr<AttentionMath> tensorCores(AttentionEmit &e, mlir::Type element);
  static std::unique_ptr<AttentionMath> plain(AttentionEmit &e);
  /// True if there is a kernel for tensor cores: see the top, and heads of at most 128 elements.
  static bool hasTensorCores(mlir::Type element, int64_t d, int64_t e);

  // where the values of a product lie
  struct Place {
    int64_t row, column; ///< slots: which of this lane's rows, and of its columns
  };
  int64_t rows() const { return warps * rowsOfWarp; }
  virtual int64_t rowSlots() const = 0;
  virtual mlir::Value row(int64_t slot) = 0; ///< in [0, rows())
  virtual int64_t columnSlots(int64_t columns) const = 0;
  virtual mlir::Value column(int64_t slot) = 0; ///< in [0, columns)
  virtual llvm::SmallVector<Place> places(int64_t columns) const = 0;
  /// One value for each column slot from a vector of 32-bit numbers in shared memory.
  virtual Values ofColumns(mlir::Type type, mlir::Value shared, int64_t columns) = 0;
  /// Joins the values of a row over the lanes that share it; `firstOfRow`: true on one of them.
  virtual mlir::Value joinRow(Join kind, mlir::Value value) = 0;
  virtual mlir::Value firstOfRow() = 0;

  // shared memory
  virtual SharedRows shape(int64_t rows, int64_t width) const = 0; ///< without base
  virtual int64_t scratchBytes(int64_t columns) const = 0;         ///< what addProduct needs; aligned to 16
  /// Zeroes what lies beyond `width` in each row; once, before anything is filled.
  virtual void clearPadding(const SharedRows &to) = 0;
  /// Rows [first, first + to.rows) of a head; those at or beyond its end repeat the last. All threads take part.
  virtual void fill(const SharedRows &to, const HeadRows &from, mlir::Value first) = 0;
  /// to[i] = from[min(first + i, count - 1)] for i < n <= threads; 32-bit numbers.
  virtual void fillVector(mlir::Value to, int64_t n, mlir::Value from, mlir::Value first, int64_t count) = 0;
  /// What was filled so far is there for all threads after this; what is read of shared memory before it has been read.
  virtual void arrive() = 0;

  // products
  /// a b^T: a value for each of places(b.rows).
  virtual Values product(const SharedRows &a, const SharedRows &b) = 0;
  /// sums + weights b: `weights` at places(b.rows), `sums` at places(b.padded).
  virtual Values addProduct(mlir::ValueRange sums, mlir::ValueRange weights, const SharedRows &b,
                            mlir::Value scratch) = 0;
  /// Writes values at places(from.padded) to the rows [first, first + rows()) of a head that there are. `shared`: room
  /// for shape(rows(), width) of f32, free once all threads have arrived.
  virtual void write(const HeadRows &to, mlir::Value first, mlir::ValueRange values, mlir::Value shared) = 0;
  virtual int64_t writeBytes(int64_t width, mlir::Type element) const = 0; ///< of `shared`

protected:
  AttentionMath(AttentionEmit &e, int64_t rowsOfWarp) : e(e), rowsOfWarp(rowsOfWarp) {}
  AttentionEmit &e;
  int64_t rowsOfWarp;
};

/// Rounded up to the alignment of every part of shared memory.
inline int64_t alignedBytes(int64_t bytes) { return (bytes + 15) / 16 * 16; }
} // namespace hocket::cuda
