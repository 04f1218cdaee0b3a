// From how operands are split and partial to how results are, by factors and linearity.
#include "passes/Dist/Judge/FactorCheck.h"
#include "mlir/IR/Matchers.h"
#include "passes/Dist/Judge/IndexCheck.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;

namespace hocket::dist::judge {

FactorCheck::FactorCheck(Claims &claims, nn::FactorOpInterface op)
    : claims(claims), mesh(claims.getMesh()), op(op), rule(op.getFactorRule()), splits(rule.factors.size()) {}

void FactorCheck::run() {
  if (!gatherSplits())
    return; // an operand of which nothing is known; told where it is made
  setFreeFactors();
  checkWhole();
  checkOneAxisOneFactor();
  checkPartialOperands();
  bool operandsAgree = !fault;
  checkOffset(claims, op, rule, splits);
  checkPadding(claims, op, rule, splits);
  if (operandsAgree) // else nothing can be said of the results
    for (OpResult result : op->getResults())
      checkResult(result);
}

InFlightDiagnostic FactorCheck::refuse() {
  fault = true;
  return claims.fault(op);
}

// ---- splits
bool FactorCheck::gatherSplits() {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) && !stateOf(operand))
      return false;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, factor] : llvm::enumerate(rule.operands[operand.getOperandNumber()])) {
      FactorSplit &split = splits[factor];
      const ValueState &state = *stateOf(operand);
      if (split.known)
        checkAlike(operand, static_cast<int64_t>(dim), factor);
      else
        split = {true, &operand, state.size(static_cast<int64_t>(dim)), state.dims[dim]};
    }
  return true;
}

void FactorCheck::checkAlike(OpOperand &operand, int64_t dim, int factor) {
  const FactorSplit &split = splits[factor];
  const ValueState &state = *stateOf(operand);
  bool sameSize = state.size(dim) == split.size;
  if (sameSize && sameSplit(split.size, split.cuts, state.dims[dim]))
    return;
  InFlightDiagnostic diag = refuse(); // C5
  diag << "has factor " << rule.factors[factor].name << ' ';
  if (!sameSize)
    diag << "of " << split.size << " elements in " << claims.operandText(*split.from) << " and of " << state.size(dim)
         << " in " << claims.operandText(operand) << "; as whole tensors they must have one size";
  else
    diag << describeCuts(mesh, split.cuts) << " in " << claims.operandText(*split.from) << " and "
         << describeCuts(mesh, state.dims[dim]) << " in " << claims.operandText(operand)
         << (flat(split.cuts) == flat(state.dims[dim]) ? " by other cuts" : "")
         << "; operands that share a factor must be split alike";
  claims.noteMaker(diag, split.from->get());
  claims.noteMaker(diag, operand.get());
}

/// Factors of results only (rows of positions, constants) are split as the claim says: their elements are the same in
/// every shard, or an offset tells them apart.
void FactorCheck::setFreeFactors() {
  for (OpResult result : op->getResults())
    if (const ValueState *claimed = claims.of(result))
      for (auto [dim, factor] : llvm::enumerate(rule.results[result.getResultNumber()]))
        if (FactorSplit &split = splits[factor]; !split.known && split.size == 0) {
          split.size = claimed->size(static_cast<int64_t>(dim));
          split.cuts = claimed->dims[dim];
        }
}

void FactorCheck::checkWhole() {
  for (auto [factor, split] : llvm::zip(rule.factors, splits)) {
    if (!factor.whole || split.cuts.empty())
      continue;
    InFlightDiagnostic diag = refuse(); // C6
    diag << "needs factor " << factor.name << " whole, but it is " << describeCuts(mesh, split.cuts) << " in "
         << (split.from ? claims.operandText(*split.from) : std::string("its result"));
    if (split.from)
      claims.noteMaker(diag, split.from->get());
  }
}

void FactorCheck::checkOneAxisOneFactor() {
  for (auto [i, a] : llvm::enumerate(splits))
    for (auto [j, b] : llvm::enumerate(ArrayRef(splits).take_front(i))) {
      Atoms shared;
      for (const Atom &atom : flat(a.cuts))
        if (llvm::is_contained(flat(b.cuts), atom))
          shared.push_back(atom);
      if (shared.empty() || !a.from || !b.from)
        continue;
      InFlightDiagnostic diag = refuse(); // C7
      diag << "has factors " << rule.factors[j].name << " of " << claims.operandText(*b.from) << " and "
           << rule.factors[i].name << " of " << claims.operandText(*a.from) << " both split over " << mesh.text(shared)
           << "; a rank would see only blocks where both numbers are its own, so an axis may split one factor";
      claims.noteMaker(diag, b.from->get());
      claims.noteMaker(diag, a.from->get());
    }
}

// ---- partial operands
void FactorCheck::checkPartialOperands() {
  for (OpOperand &operand : op->getOpOperands()) {
    const ValueState *state = stateOf(operand);
    if (!state || state->partial.empty())
      continue;
    nn::Linearity linearity = rule.linearity[operand.getOperandNumber()];
    bool sum = state->reduction == Reduction::Sum;
    if (sum && linearity != nn::Linearity::None) {
      checkPartialBeside(operand);
      continue;
    }
    InFlightDiagnostic diag = refuse(); // C8, C9
    diag << "has " << claims.operandText(operand) << " that is " << describePartial(mesh, *state) << ", but "
         << (sum ? "it is not linear in it" : "only sums pass through ops")
         << "; it must be joined before, by all_reduce or reduce_scatter " << stringifyReduction(state->reduction)
         << " over " << mesh.text(state->partial);
    claims.noteMaker(diag, operand.get());
  }
  checkMulti();
  checkJoint();
}

/// Rank k holds summand k of one operand and shard k of another: summands would be spread and never meet.
void FactorCheck::checkPartialBeside(OpOperand &operand) {
  for (auto [factor, split] : llvm::zip(rule.factors, splits)) {
    Atoms shared;
    for (const Atom &atom : flat(split.cuts))
      if (stateOf(operand)->isPartialOver(atom))
        shared.push_back(atom);
    if (shared.empty() || !split.from)
      continue;
    InFlightDiagnostic diag = refuse(); // C12
    diag << "has " << claims.operandText(operand) << " that is partial over " << mesh.text(shared)
         << ", which also splits factor " << factor.name << " of " << claims.operandText(*split.from)
         << "; the summands would lie on ranks with other shards, so it must be joined before";
    claims.noteMaker(diag, operand.get());
    claims.noteMaker(diag, split.from->get());
  }
}

void FactorCheck::checkMulti() {
  OpOperand *first = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    const ValueState *state = stateOf(operand);
    if (!state || state->partial.empty() || rule.linearity[operand.getOperandNumber()] != nn::Linearity::Multi)
      continue;
    if (!first) {
      first = &operand;
      continue;
    }
    Atoms shared;
    for (const Atom &atom : state->partial)
      if (stateOf(*first)->isPartialOver(atom))
        shared.push_back(atom);
    if (shared.empty())
      continue;
    InFlightDiagnostic diag = refuse(); // C10
    diag << "has " << claims.operandText(*first) << " and " << claims.operandText(operand) << " both partial over "
         << mesh.text(shared) << "; a sum of products is not the product of sums, so one of them must be joined before";
    claims.noteMaker(diag, first->get());
    claims.noteMaker(diag, operand.get());
  }
}

void FactorCheck::checkJoint() {
  OpOperand *first = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    const ValueState *state = stateOf(operand);
    if (!state || rule.linearity[operand.getOperandNumber()] != nn::Linearity::Joint)
      continue;
    if (!first) {
      first = &operand;
      continue;
    }
    if (stateOf(*first)->partial == state->partial)
      continue;
    InFlightDiagnostic diag = refuse(); // C11
    diag << "has " << claims.operandText(*first) << " that is " << describePartial(mesh, *stateOf(*first)) << " and "
         << claims.operandText(operand) << " that is " << describePartial(mesh, *state)
         << "; what is added must be partial over the same axes, or a whole value counts once for each rank";
    claims.noteMaker(diag, first->get());
    claims.noteMaker(diag, operand.get());
  }
}

// ---- results
static Reduction reductionOf(nn::ReductionKind kind) {
  switch (kind) {
  case nn::ReductionKind::Sum:
    return Reduction::Sum;
  case nn::ReductionKind::Max:
    return Reduction::Max;
  case nn::ReductionKind::Min:
    return Reduction::Min;
  }
  return Reduction::Sum;
}

/// A constant 0 is a sum of zeros over any axes.
static bool isConstantZero(OpResult result) {
  auto elementwise = dyn_cast<nn::ElementwiseOp>(result.getOwner());
  if (!elementwise || elementwise->getNumOperands() != 0)
    return false;
  Value made = elementwise.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  return matchPattern(made, m_AnyZeroFloat()) || matchPattern(made, m_Zero());
}

ValueState FactorCheck::expected(OpResult result, const ValueState &claimed) const {
  ValueState state = claimed;
  state.partial.clear();
  state.reduction = Reduction::Sum;
  ArrayRef<int> term = rule.results[result.getResultNumber()];
  SmallVector<int64_t> shape(claimed.global.getShape());
  for (auto [dim, factor] : llvm::enumerate(term)) {
    state.dims[dim] = splits[factor].cuts;
    shape[dim] = splits[factor].size;
  }
  state.global = RankedTensorType::get(shape, cast<RankedTensorType>(result.getType()).getElementType());
  for (OpOperand &operand : op->getOpOperands())
    if (const ValueState *from = claims.of(operand.get()))
      state.addPartial(from->partial);
  for (auto [factor, split] : llvm::enumerate(splits))
    if (split.from && !llvm::is_contained(term, static_cast<int>(factor)) && !split.cuts.empty()) {
      state.addPartial(flat(split.cuts));
      state.reduction = reductionOf(rule.reduction);
    }
  if (isConstantZero(result) && claimed.reduction == Reduction::Sum)
    state.partial = claimed.partial;
  return state;
}

void FactorCheck::checkResult(OpResult result) {
  const ValueState *claimed = claims.of(result);
  if (!claimed)
    return;
  ValueState found = expected(result, *claimed);
  if (sameState(found, *claimed))
    return;
  InFlightDiagnostic diag = refuse(); // C13
  diag << "claims that " << claims.resultText(result) << " is ";
  if (found.global != claimed->global)
    diag << "a shard of " << claimed->global << ", but its operands make it one of " << found.global;
  else
    diag << describe(mesh, *claimed) << ", but its operands make it " << describe(mesh, found);
  for (Value operand : llvm::SetVector<Value>(op->operand_begin(), op->operand_end()))
    if (const ValueState *state = claims.of(operand); state && describe(mesh, *state) != "whole")
      claims.noteMaker(diag, operand);
}
} // namespace hocket::dist::judge
