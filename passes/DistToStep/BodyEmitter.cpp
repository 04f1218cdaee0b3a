// Ops of the training step into a body.
#include "passes/DistToStep/BodyEmitter.h"
#include "passes/DistToStep/FlatCollectives.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static Value load(OpBuilder &builder, Location loc, Value buffer, RankedTensorType type) {
  return LoadOp::create(builder, loc, type, buffer);
}

Value BodyEmitter::get(Value value) {
  if (Value here = map.lookupOrNull(value))
    return here;
  Operation *def = value.getDefiningOp();
  if (auto read = dyn_cast<nn::ReadOp>(def)) {
    auto type = read.getValue().getType();
    Value here = load(builder, read.getLoc(), program.slotBuffer(read.getKind(), read.getName(), type), type);
    map.map(value, here);
    return here;
  }
  if (isFree(def)) {
    emit(def);
    return map.lookup(value);
  }
  Value here = load(builder, value.getLoc(), program.valueBuffer(value), cast<RankedTensorType>(value.getType()));
  map.map(value, here);
  return here;
}

void BodyEmitter::emit(Operation *op) {
  for (Value operand : op->getOperands())
    map.map(operand, get(operand));
  if (auto write = dyn_cast<nn::WriteOp>(op)) {
    Value buffer = program.slotBuffer(write.getKind(), write.getName(), write.getValue().getType());
    StoreOp::create(builder, write.getLoc(), map.lookup(write.getValue()), buffer);
    return;
  }
  if (!lowerDistOp(builder, op, map, program.mesh))
    builder.clone(*op, map);
  for (Value result : op->getResults())
    if (program.isKept(result))
      StoreOp::create(builder, op->getLoc(), map.lookup(result), program.valueBuffer(result));
}
