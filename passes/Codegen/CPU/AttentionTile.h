// What attention's forward and backward share: sizes and strides of the operands, the small product that both are made
// of, and the mask.
//
// 32 queries of one head lie side by side in the lanes; keys come one after another. So row maxima and sums are
// elementwise, any head size works, and q needs to be turned (d x 32) only once for all keys. Operands of 16 bits are
// widened a block at a time, so that the products read f32 alone.
#pragma once
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "passes/Codegen/Graph/AttentionOp.h"

namespace hocket::cpu {
using codegen::AttentionMask;
using codegen::AttentionSizes;

/// Keys that are worked on between two updates of the running maximum.
constexpr int64_t keyBlock = 64;

/// A matrix of f32 in memory: element (row, column) is base[offset + row * rowStride + column * columnStride].
struct Matrix {
  mlir::Value base, offset;
  int64_t rowStride, columnStride;
  Matrix transposed() const { return {base, offset, columnStride, rowStride}; }
};
/// Rows of an operand or a result of the kernel: `width` elements each, from `offset` on, `stride` apart.
struct Rows {
  mlir::Type element;
  mlir::Value base, offset;
  int64_t stride, width;
  /// From row `row` of all on, counted in rows of `width` elements.
  Rows from(Emit &e, mlir::Value row) const { return {element, base, e.times(row, width), stride, width}; }
};

class AttentionTile {
public:
  /// `kernel` knows the buffers of the op's operands.
  template <typename OpT>
  AttentionTile(Emit &e, const SpecialKernel &kernel, OpT op)
      : e(e), sizes(op.getQ(), op.getK(), op.getV()), mask(op), qPositions(kernel.of(op.getQPositions())),
        kPositions(kernel.of(op.getKPositions())), f32(e.getF32Type()) {
    if (mask.documents)
      qDocuments = kernel.of(op.getDocuments()[0]), kDocuments = kernel.of(op.getDocuments()[1]);
  }

  int64_t queryBlocks() const { return (sizes.s + lanes - 1) / lanes; }
  /// Of q, k, v, y and their gradients: one head's rows, which lie as far apart as there are heads.
  static Rows rowsOf(mlir::Value tensor, mlir::Value buffer);
  // vectors of 32 f32 on the stack, one a row
  mlir::Value at(mlir::Value base, mlir::Value row) {
    return e.loadVector(f32, base, e.times(row, lanes), mlir::Value());
  }
  void put(mlir::Value value, mlir::Value base, mlir::Value row) {
    e.storeVector(f32, value, base, e.times(row, lanes), mlir::Value());
  }
  /// rows x 32: c[row, lane] = sum over k of a[row, k] * b[k, lane] (+ c before, if `accumulate`); `columns`: the lanes
  /// of b and c there are, null for all. Eight rows share each load of b. k runs up from 0.
  void product(const Matrix &a, const Matrix &b, const Matrix &c, mlir::Value rows, mlir::Value depth, bool accumulate,
               mlir::Value columns);
  /// to[j * 32 + lane] = from[lane, j] for j < count; lanes that are not `present` are zero.
  void turn(const Matrix &from, int64_t count, mlir::Value to);
  /// to[lane, j] = from[j * 32 + lane] for the lanes that are `present`. `scratch`: as below, 32 rows.
  void turnBack(mlir::Value from, const Rows &to, mlir::Value scratch);
  /// The first `count` rows as f32: where they lie, or a copy in `scratch` (made by scratchRows; null for f32).
  Matrix widened(const Rows &rows, mlir::Value count, mlir::Value scratch);
  mlir::Value scratchRows(mlir::Type element, int64_t rows, int64_t width);

  /// Positions and documents of the queries of a block, and their least and greatest.
  void beginQueries(mlir::Value batch, mlir::Value firstQuery);
  /// True (i1) if some query of the block may see some key of [firstKey, endKey).
  mlir::Value anySeen(mlir::Value batch, mlir::Value firstKey, mlir::Value endKey);
  /// Lanes whose query sees `key`; null if all do.
  mlir::Value sees(mlir::Value batch, mlir::Value key);
  /// The score of a product q k: scaled and capped.
  mlir::Value score(mlir::Value product);

  Emit &e;
  AttentionSizes sizes;
  AttentionMask mask;
  mlir::Value qPositions, kPositions;
  mlir::Value qDocuments, kDocuments; ///< null if there are none
  mlir::Type f32;
  mlir::Value present;       ///< lanes that have a query; null if all do
  mlir::Value queryCount;    ///< how many they are
  mlir::Value queryPosition; ///< vector of i32
  mlir::Value queryDocument; ///< vector of i32
  mlir::Value greatestQuery, leastQuery, greatestDocument, leastDocument;

private:
  /// Least and greatest of the lanes that are `present`.
  std::pair<mlir::Value, mlir::Value> rangeOf(mlir::Value numbers);
  /// Least and greatest of elements [first, end) of a buffer of i32.
  std::pair<mlir::Value, mlir::Value> rangeOf(mlir::Value buffer, mlir::Value first, mlir::Value end);
  void productRows(const Matrix &a, const Matrix &b, const Matrix &c, mlir::Value firstRow, int64_t count,
                   mlir::Value depth, bool accumulate, mlir::Value columns);
};
} // namespace hocket::cpu
