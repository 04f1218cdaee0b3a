// See FreeValues.h.
#include "dialect/Dist/FreeValues.h"
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
using namespace mlir;

bool hocket::dist::isFree(Operation *op) {
  if (isa<nn::ReadOp, OffsetOp>(op))
    return true;
  if (!isPure(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value value) {
    Operation *def = value.getDefiningOp();
    auto read = dyn_cast_or_null<nn::ReadOp>(def);
    // Numbers that begin makes; tensors that it makes are parameters to compute with.
    return read ? read.getKind() == nn::SlotKind::Value && read.getValue().getType().getRank() == 0
                : def && isFree(def);
  });
}
