// Kernels whose work is a Graph over rows x columns, in three forms: elements, rows, columns.
#pragma once
#include "passes/Codegen/CUDA/GraphValues.h"

namespace hocket::cuda {
/// What a GPU kernel of rows writes: of the graph, and numbers of rows to the scratch.
struct RowOutputs {
  llvm::SmallVector<const Output *> outputs;
  llvm::SmallVector<std::pair<Ref, mlir::Value>> scratch; ///< number of each row, where
};

/// Elements that a thread works on at once: the largest power of two that divides the columns, at most 8. A single row
/// has a rest instead.
int64_t lanesFor(const KernelShape &shape);

/// No number of a row or column is reduced: threads share the elements as they lie. `orderMatters`: rows' numbers may
/// lie on operands, which the form for rows heeds.
bool fitsElements(const Graph &graph, bool mayLieOnOperands);
Launch emitElements(GpuEmit &e, const GpuFrame &frame, const Graph &graph);

/// A warp (or a part of it), or a block, works on one row; the row stays in registers between its loops if it is short
/// enough and is read again if not.
Launch emitRows(GpuEmit &e, const Graph &graph, const NeededSteps &needed, const RowOutputs &outputs, bool inPlace);

/// Sums down the columns, in two kernels: rows in groups, each of which writes a partial sum to the scratch; then the
/// groups in order. Row reductions (the statistics of norms) come before, in a kernel of rows.
struct ColumnPlan {
  int64_t rows, columns, lanes, groups, rowsOfGroup, bytesOfColumn;
  ColumnPlan(const KernelShape &shape, llvm::ArrayRef<Step *> sums);
  int64_t columnBlocks() const;
  int64_t partialBytes() const; ///< of all sums
};
Launch emitPartialSums(GpuEmit &e, const GpuFrame &frame, const Graph &graph, const NeededSteps &needed,
                       const ColumnPlan &plan, llvm::ArrayRef<std::pair<Ref, mlir::Value>> rowNumbers,
                       mlir::Value partial);
Launch emitJoinedSums(GpuEmit &e, const GpuFrame &frame, const Graph &graph, const NeededSteps &needed,
                      const ColumnPlan &plan, mlir::Value partial);
} // namespace hocket::cuda
