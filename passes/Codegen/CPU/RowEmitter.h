// Writes the loops of a kernel whose work is a Graph over rows x columns.
#pragma once
#include "passes/Codegen/CPU/CpuEmit.h"

namespace hocket::cpu {
/// How a kernel is cut into tiles: blocks of rows, each cut into blocks of columns.
struct Tiling {
  int64_t rowBlock = 1, columnBlock = 1, rowBlocks = 1, columnBlocks = 1;
  int64_t tiles() const { return rowBlocks * columnBlocks; }
};
/// Cuts along rows; a kernel without row reductions also along columns; one that adds over rows only along columns.
Tiling chooseTiling(const Graph &graph);
/// Emits `for (tile = begin; tile < end; ++tile)` at the builder's place.
void emitRows(Emit &emit, Graph &graph, const Tiling &tiling, mlir::Value begin, mlir::Value end);
} // namespace hocket::cpu
