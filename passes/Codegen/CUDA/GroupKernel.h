// Several kernels over rows x columns in one launch (codegen-group-launches makes them). Each part keeps the grid it
// has alone, so its bits are those of the part alone; a block finds by its number which part it works for.
#pragma once
#include "passes/Codegen/CUDA/GpuEmit.h"

namespace hocket::cuda {
/// Emits a kernel with `hocket.parts`. Parts that print alike share their code, which gets the pointers of the block's
/// part. There is one GPU kernel for each size of block that parts have, for each of their launches in turn.
mlir::LogicalResult emitGroup(mlir::func::FuncOp kernel, mlir::ModuleOp into);
} // namespace hocket::cuda
