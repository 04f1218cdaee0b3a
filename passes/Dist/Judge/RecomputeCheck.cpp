// See RecomputeCheck.h.
#include "passes/Dist/Judge/RecomputeCheck.h"
using namespace mlir;

namespace hocket::dist::judge {

/// Attributes but for where an op stands and why.
static Attribute deed(Operation *op) {
  NamedAttrList all(op->getAttrDictionary());
  for (StringRef placement : {"path", "phase", "cause"})
    all.erase(placement);
  return all.getDictionary(op->getContext());
}

static bool sameBodies(Operation *a, Operation *b) {
  for (auto [mine, theirs] : llvm::zip(a->getRegions(), b->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(&mine, &theirs, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

Value RecomputeCheck::meant(Value value) const {
  auto at = copies.find(value);
  return at == copies.end() ? value : at->second;
}

/// The op of forward that `op` does again; null if there is none.
Operation *RecomputeCheck::original(Operation *op) const {
  auto candidates = forward.find({op->getName(), deed(op)});
  if (candidates == forward.end())
    return nullptr;
  bool anyPath = nn::getPhase(op) != nn::Phase::Recompute;
  for (Operation *other : candidates->second) {
    bool same = other->getNumOperands() == op->getNumOperands() && other->getResultTypes() == op->getResultTypes() &&
                (anyPath || nn::getPath(other) == nn::getPath(op)) && sameBodies(op, other);
    for (unsigned i = 0; same && i < op->getNumOperands(); ++i)
      same = meant(op->getOperand(i)) == other->getOperand(i);
    if (same)
      return other;
  }
  return nullptr;
}

void RecomputeCheck::checkOperands(Operation *op) {
  bool again = nn::getPhase(op) == nn::Phase::Recompute;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *maker = operand.get().getDefiningOp();
    auto read = dyn_cast<nn::ReadOp>(maker);
    if (again && read && written.contains({static_cast<int>(read.getKind()), read.getName()}))
      claims.fault(op) << "is made again of " << claims.operandText(operand) << ", read from "
                       << nn::stringifySlotKind(read.getKind()) << " \"" << read.getName()
                       << "\", which the microbatch writes"; // C27
    if (nn::getPhase(op) == nn::Phase::Forward && nn::getPhase(maker) == nn::Phase::Recompute)
      claims.fault(op) << "is of phase forward and takes " << claims.operandText(operand)
                       << ", which is made again in backward"; // C27
  }
}

void RecomputeCheck::run(Region &microbatch) {
  if (llvm::none_of(microbatch.front(), [](Operation &op) { return nn::getPhase(&op) == nn::Phase::Recompute; }))
    return;
  for (Operation &op : microbatch.front()) {
    if (auto write = dyn_cast<nn::WriteOp>(op))
      written.insert({static_cast<int>(write.getKind()), write.getName()});
    if (nn::getPhase(&op) == nn::Phase::Forward)
      forward[{op.getName(), deed(&op)}].push_back(&op);
  }
  for (Operation &op : microbatch.front()) {
    checkOperands(&op);
    bool again = nn::getPhase(&op) == nn::Phase::Recompute;
    bool gather = nn::getPhase(&op) != nn::Phase::Forward && isa<DistDialect>(op.getDialect());
    if (!again && !gather)
      continue;
    Operation *first = original(&op);
    bool ofFault = llvm::any_of(op.getOperands(), [&](Value operand) { return faulty.contains(operand); });
    if (!first && again)
      faulty.insert(op.result_begin(), op.result_end());
    if (!first && again && !ofFault)
      claims.fault(&op) << "is made again, but no op of forward in " << nn::getPath(&op)
                        << " makes the same of the same values"; // C27
    if (first)
      for (auto [now, before] : llvm::zip(op.getResults(), first->getResults()))
        copies[now] = before;
  }
}
} // namespace hocket::dist::judge
