// Slots at rest, reads and writes.
#include "passes/Dist/Judge/SlotCheck.h"
using namespace mlir;

namespace hocket::dist::judge {

static std::string slotText(nn::SlotOp slot) {
  return (stringifySlotKind(slot.getKind()) + " '" + slot.getName() + "'").str();
}

void checkSlot(Claims &claims, nn::SlotOp slot) {
  const ValueState *state = claims.ofSlot(slot);
  if (!state)
    return;
  using enum nn::SlotKind;
  bool mayBePartial = slot.getKind() == Accumulator || slot.getKind() == Value;
  bool split = llvm::any_of(state->dims, [](const Cuts &cuts) { return !cuts.empty(); });
  if (slot.getKind() == Output && (split || !state->partial.empty()))
    claims.fault(slot) << "'" << slot.getName() << "' is " << describe(claims.getMesh(), *state)
                       << ", but an output is read from any rank and must be whole"; // C22
  else if (!mayBePartial && !state->partial.empty())
    claims.fault(slot) << "holds " << slotText(slot) << ' ' << describePartial(claims.getMesh(), *state)
                       << "; only accumulators and values may be partial at rest"; // C22
}

/// The states of a slot and of a value read from it or written to it agree.
static void compare(Claims &claims, Operation *op, nn::SlotOp slot, const ValueState &said, StringRef verb,
                    Value written) {
  const ValueState *rest = claims.ofSlot(slot);
  if (!rest)
    return;
  // In `begin` an input is that of all microbatches, in a dimension of its own before the others.
  ValueState expected = *rest;
  if (said.rank() == rest->rank() + 1) {
    expected.dims.insert(expected.dims.begin(), Cuts());
    SmallVector<int64_t> shape(rest->global.getShape());
    shape.insert(shape.begin(), said.size(0));
    expected.global = RankedTensorType::get(shape, rest->global.getElementType());
  }
  if (sameState(expected, said))
    return;
  InFlightDiagnostic diag = claims.fault(op); // C23
  diag << verb << ' ' << slotText(slot) << " as ";
  if (said.global != expected.global)
    diag << "a shard of " << said.global << ", but the slot holds one of " << expected.global;
  else
    diag << describe(claims.getMesh(), said) << ", but the slot holds it " << describe(claims.getMesh(), *rest);
  diag.attachNote(slot.getLoc()) << "slot declared here";
  if (written)
    claims.noteMaker(diag, written);
}

void checkRead(Claims &claims, nn::ReadOp read) {
  nn::SlotOp slot = claims.slotNamed(read.getKind(), read.getName());
  if (const ValueState *said = claims.of(read.getValue()); slot && said)
    compare(claims, read, slot, *said, "reads", {});
}

void checkWrite(Claims &claims, nn::WriteOp write) {
  nn::SlotOp slot = claims.slotNamed(write.getKind(), write.getName());
  const ValueState *made = claims.of(write.getValue());
  if (!slot || !made)
    return;
  const ValueState *said = claims.ofWrite(write);
  if (said && !sameState(*said, *made)) {
    InFlightDiagnostic diag = claims.fault(write); // C23
    diag << "claims to store a value that is " << describe(claims.getMesh(), *said) << ", but it is "
         << describe(claims.getMesh(), *made);
    claims.noteMaker(diag, write.getValue());
  }
  compare(claims, write, slot, *made, "writes", write.getValue());
}
} // namespace hocket::dist::judge
