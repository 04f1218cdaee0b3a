// Parameters, and calls of blocks: the callee is there, its types fit, and no block contains itself.
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>
using namespace mlir;

namespace hocket::nn {

static LogicalResult verifyName(Operation *op, StringRef name) {
  if (isName(name))
    return success();
  return op->emitOpError() << "has the name '" << name
                           << "', expected components of letters, digits, '_' and '-' joined by dots";
}

LogicalResult ParamOp::verify() {
  LogicalResult result = verifyName(*this, getName());
  auto type = cast<RankedTensorType>(getValue().getType());
  if (!isa<FloatType>(type.getElementType()))
    result = emitOpError() << "'" << getName() << "' has elements of " << type.getElementType()
                           << ", expected a floating-point type";
  if (llvm::any_of(type.getShape(), [](int64_t dim) { return ShapedType::isDynamic(dim) || dim < 1; }))
    result = emitOpError() << "'" << getName() << "' has the shape of " << type
                           << ", expected dimensions that are known and at least 1";
  double scale = getInit().getScale().getValueAsDouble();
  if (getInit().getKind() == InitKind::Normal && (!(scale >= 0) || std::isinf(scale)))
    result = emitOpError() << "'" << getName() << "' starts with deviation " << realText(scale)
                           << ", expected at least 0";
  if (getInit().getKind() == InitKind::Constant && !std::isfinite(scale))
    result = emitOpError() << "'" << getName() << "' starts with the value " << realText(scale)
                           << ", expected a finite number";
  return result;
}

LogicalResult CallOp::verify() { return verifyName(*this, getName()); }

LogicalResult RepeatOp::verify() {
  LogicalResult result = verifyName(*this, getName());
  constexpr int64_t most = 100000; // every copy is put in place
  if (int64_t(getCount()) < 1 || int64_t(getCount()) > most)
    result = emitOpError() << "repeats " << int64_t(getCount()) << " times, expected 1 to " << most;
  if (getResults().empty() || getResults().size() > getArgs().size())
    return emitOpError() << "has " << getResults().size() << " results, expected between 1 and the " << getArgs().size()
                         << " arguments";
  TypeRange carried = getArgs().take_front(getResults().size()).getTypes();
  if (carried != getResultTypes())
    result = emitOpError() << "must map its first arguments to themselves: found (" << carried << ") -> ("
                           << getResultTypes() << ")";
  return result;
}

// ---- symbols --------------------------------------------------------------------------------------------------------
/// The block that `op` calls; null if it is no call.
static StringAttr calleeOf(Operation *op) {
  auto callee = isa<CallOp, RepeatOp>(op) ? op->getAttrOfType<FlatSymbolRefAttr>("callee") : FlatSymbolRefAttr();
  return callee ? callee.getAttr() : StringAttr();
}

/// Adds to `path` the calls by which `from` reaches `target`; false if it does not. Each block is entered once.
static bool reaches(BlockOp from, BlockOp target, Operation *table, SymbolTableCollection &symbols,
                    llvm::DenseSet<Operation *> &entered, SmallVectorImpl<Operation *> &path) {
  if (from == target)
    return true;
  if (!entered.insert(from).second || from.getBody().empty())
    return false;
  for (Operation &op : from.getBody().front()) {
    StringAttr callee = calleeOf(&op);
    auto block = callee ? symbols.lookupSymbolIn<BlockOp>(table, callee) : BlockOp();
    if (!block)
      continue;
    path.push_back(&op);
    if (reaches(block, target, table, symbols, entered, path))
      return true;
    path.pop_back();
  }
  return false;
}

/// A cycle of calls is one fault, told at the call of the block that stands first in the file.
static LogicalResult verifyNoRecursion(Operation *op, BlockOp callee, Operation *table,
                                       SymbolTableCollection &symbols) {
  auto caller = dyn_cast<BlockOp>(op->getParentOp());
  llvm::DenseSet<Operation *> entered;
  SmallVector<Operation *> path;
  if (!caller || !reaches(callee, caller, table, symbols, entered, path))
    return success();
  for (Operation *step : path)
    if (step->getParentOp()->isBeforeInBlock(caller))
      return success();
  InFlightDiagnostic error = op->emitOpError() << "makes block @" << caller.getName() << " contain itself";
  for (Operation *step : path)
    error.attachNote(step->getLoc()) << "through the call of @" << calleeOf(step).getValue() << " here";
  return error;
}

static LogicalResult verifyCallee(Operation *op, OperandRange args, SymbolTableCollection &symbols) {
  StringRef name = calleeOf(op);
  Operation *table = SymbolTable::getNearestSymbolTable(op);
  auto block = symbols.lookupSymbolIn<BlockOp>(table, calleeOf(op));
  if (!block) {
    SmallVector<StringRef> known;
    for (auto each : table->getRegion(0).getOps<BlockOp>())
      known.push_back(each.getName());
    return op->emitOpError() << "calls the unknown block '" << name << "'" << knownNames(name, known);
  }
  LogicalResult result = verifyNoRecursion(op, block, table, symbols);
  if (TypeRange(args) == TypeRange(block.getArgumentTypes()) && op->getResultTypes() == block.getResultTypes())
    return result;
  InFlightDiagnostic error = op->emitOpError() << "calls @" << name << " as (" << TypeRange(args) << ") -> ("
                                               << op->getResultTypes() << "), the block is ("
                                               << block.getArgumentTypes() << ") -> (" << block.getResultTypes() << ")";
  error.attachNote(block.getLoc()) << "block declared here";
  return error;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getArgs(), symbols);
}
LogicalResult RepeatOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getArgs(), symbols);
}
} // namespace hocket::nn
