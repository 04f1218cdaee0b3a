// Verifiers and names of the step dialect's ops.
#include "dialect/Dist/AxesSyntax.h"
#include "dialect/NN/Assembly.h"
#include "dialect/Step/Step.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;
using namespace hocket::nn;
using namespace hocket::dist;

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<PlanOp>(*this, getPlanAttr()))
    return emitOpError() << "unknown plan " << getPlanAttr();
  return success();
}

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getBuffer(), getName()); }
void LoadOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (auto buffer = getBuffer().getDefiningOp<BufferOp>())
    setName(getValue(), (buffer.getName() + ".value").str());
}

/// Work reads and makes tensors, or, once memory is planned, reads and writes buffers: never a mixture.
static LogicalResult verifyForm(Operation *op, ValueRange inputs, ValueRange outs) {
  if (outs.empty() != (op->getNumResults() > 0))
    return op->emitOpError() << "has " << op->getNumResults() << " results and writes " << outs.size()
                             << " buffers; it must do one of both";
  for (Value input : inputs)
    if (isa<MemRefType>(input.getType()) != !outs.empty())
      return op->emitOpError() << (outs.empty() ? "reads a buffer and makes tensors" : "reads a tensor and writes buffers");
  return success();
}

LogicalResult LaunchOp::verify() { return verifyForm(*this, getInputs(), getOuts()); }

LogicalResult GemmOp::verify() {
  SmallVector<Value> inputs{getA(), getB()};
  if (getC())
    inputs.push_back(getC());
  if (getMnk().size() != 3 || getLeading().size() != 3)
    return emitOpError() << "needs three sizes and three leading dimensions, has " << getMnk().size() << " and "
                         << getLeading().size();
  if (getBatch().has_value() != getStrides().has_value() || (getStrides() && getStrides()->size() != 3))
    return emitOpError() << "needs three strides with a batch, and none without";
  return verifyForm(*this, inputs, getOuts());
}

LogicalResult CollectiveOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "names no mesh axis";
  return verifyForm(*this, getInput(), getOuts());
}

#define GET_OP_CLASSES
#include "dialect/Step/StepOps.cpp.inc"
