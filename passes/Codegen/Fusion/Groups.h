// Which ops of a body become one kernel.
#pragma once
#include "passes/Codegen/Fusion/KernelShape.h"

namespace hocket::codegen {
/// One thing in the new order of a body: an op that stays, or the ops of a kernel.
struct Group {
  llvm::SmallVector<mlir::Operation *> ops;
  bool kernel = false;
};
/// Groups every op of `block` that belongs in a kernel. The order keeps every dependence between values, and no load is
/// read after a store to its buffer that it was read before.
std::vector<Group> groupOps(mlir::Block &block);
} // namespace hocket::codegen
