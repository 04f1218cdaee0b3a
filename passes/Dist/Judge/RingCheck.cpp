// See RingCheck.h.
#include "passes/Dist/Judge/RingCheck.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist::judge {

void RingCheck::run(Region &region) {
  for (Operation &op : region.front())
    examine(&op);
}

void RingCheck::examine(Operation *op) {
  if (auto step = dyn_cast<ShiftOp>(op))
    return shift(step);
  if (auto made = dyn_cast<nn::PositionsOp>(op))
    return positions(made);
  if (auto forward = dyn_cast<nn::AttentionOp>(op); forward && forward.getRing())
    return attention(forward);
  if (auto backward = dyn_cast<nn::AttentionGradOp>(op); backward && backward.getRing())
    return attention(backward);
  if (auto merge = dyn_cast<nn::AttentionMergeOp>(op)) {
    if (partOf(merge.getA(), 1).of != partOf(merge.getALse(), 1).of ||
        partOf(merge.getB(), 1).of != partOf(merge.getBLse(), 1).of)
      claims.fault(op) << "merges an output with the log-sum-exp of another attention";
    return join(op, merge.getA(), merge.getB());
  }
  if (auto add = dyn_cast<nn::AddOp>(op); add && parts.contains(add.getA()) && parts.contains(add.getB()))
    return join(op, add.getA(), add.getB());
  expectOwn(op);
}

RingCheck::Part RingCheck::partOf(Value value, int64_t ranks) const {
  if (auto at = parts.find(value); at != parts.end())
    return at->second;
  return {value.getAsOpaquePointer(), 0, llvm::SmallBitVector(static_cast<unsigned>(ranks), true)};
}

int64_t RingCheck::ranksAlong(Value queries) const {
  const ValueState *state = claims.of(queries);
  int64_t ranks = 1;
  if (state && state->rank() > 1)
    for (const Atom &atom : flat(state->dims[1]))
      ranks *= atom.size;
  return ranks;
}

void RingCheck::shift(ShiftOp op) {
  if (!claims.sound(op.getAxes()))
    return;
  Atoms ring = claims.getMesh().of(op.getAxes().getRefs());
  const ValueState *state = claims.of(op.getX());
  if (!state)
    return; // told where it is made
  if (ring.empty() || llvm::none_of(state->dims, [&](const Cuts &cuts) { return flat(cuts) == ring; })) {
    InFlightDiagnostic diag = claims.fault(op);
    diag << "goes around " << axesText(op.getAxes().getRefs()) << ", but " << claims.operandText(op->getOpOperand(0))
         << " is " << describe(claims.getMesh(), *state) << "; the blocks of a ring are those of one dimension";
    claims.noteMaker(diag, op.getX());
    return;
  }
  int64_t ranks = sizeOf(ring);
  Part part = partOf(op.getX(), ranks);
  part.places = (part.places + 1) % ranks;
  if (!part.isOwn())
    parts[op.getY()] = part;
}

void RingCheck::positions(nn::PositionsOp op) {
  auto offset = op.getOffset() ? op.getOffset().getDefiningOp<OffsetOp>() : OffsetOp();
  int64_t behind = offset ? static_cast<int64_t>(offset.getBehind().value_or(0)) : 0, ranks = 1;
  if (behind == 0 || !claims.sound(offset.getAxes()))
    return;
  for (const Atom &atom : claims.getMesh().of(offset.getAxes().getRefs()))
    ranks *= atom.size;
  Part part{nullptr, behind % ranks, llvm::SmallBitVector(static_cast<unsigned>(ranks), true)};
  if (!part.isOwn())
    parts[op.getY()] = part;
}

/// "the block of the rank 1 before, over blocks 1 and 2 of 4"
std::string RingCheck::text(const Part &part) const {
  std::string whose =
      part.places == 0 ? "the rank's own block" : "the block of the rank " + std::to_string(part.places) + " before";
  if (part.covered.all())
    return whose;
  SmallVector<std::string> blocks;
  for (unsigned block : part.covered.set_bits())
    blocks.push_back(std::to_string(block));
  return whose + ", over block " + llvm::join(blocks, ", ") + " of 0 to " + std::to_string(part.covered.size() - 1);
}

/// Results over one block: which one, its keys say. Gradients of keys and values are of that block, by the rank's own
/// queries.
template <typename OpT> void RingCheck::attention(OpT op) {
  int64_t ranks = ranksAlong(op.getQ());
  if (ranks == 1)
    return expectOwn(op);
  Part keys = partOf(op.getK(), ranks);
  SmallVector<Value> together{op.getK(), op.getV(), op.getKPositions()}, own{op.getQ(), op.getQPositions()};
  if (!op.getDocuments().empty())
    own.push_back(op.getDocuments()[0]), together.push_back(op.getDocuments()[1]);
  for (Value value : together)
    if (Part part = partOf(value, ranks); part.places != keys.places || !part.covered.all()) {
      claims.fault(op) << "takes keys of one block and values, positions or documents of another: " << text(keys)
                       << ", and " << text(part);
      return;
    }
  for (Value value : own)
    if (Part part = partOf(value, ranks); !part.isOwn())
      claims.fault(op) << "takes queries that are " << text(part) << "; they must be the rank's own";
  llvm::SmallBitVector block(static_cast<unsigned>(ranks));
  block.set(static_cast<unsigned>(keys.places));
  const void *of = op.getQ().getAsOpaquePointer();
  for (OpResult result : op->getResults()) {
    bool ofKeys = isa<nn::AttentionGradOp>(op.getOperation()) && result.getResultNumber() > 0;
    const void *sum = result.getResultNumber() == 2 ? partOf(op.getV(), ranks).of : ofKeys ? keys.of : of;
    parts[result] = {sum, ofKeys ? keys.places : 0, block};
  }
}

/// Results over different blocks become one over all of them.
void RingCheck::join(Operation *op, Value a, Value b) {
  Part left = partOf(a, 1), right = partOf(b, 1);
  if (!parts.contains(a) || !parts.contains(b) || left.of != right.of || left.places != right.places ||
      left.covered.anyCommon(right.covered)) {
    InFlightDiagnostic diag = claims.fault(op);
    diag << "joins " << text(left) << " with " << text(right) << "; parts of one value, each block once, are expected";
    claims.noteMaker(diag, a);
    claims.noteMaker(diag, b);
    return;
  }
  left.covered |= right.covered;
  for (OpResult result : op->getResults())
    if (!left.isOwn())
      parts[result] = left;
}

void RingCheck::expectOwn(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (auto offset = operand.get().getDefiningOp<OffsetOp>(); offset && offset.getBehind().value_or(0) != 0)
      claims.fault(op) << "takes an offset of another rank, which only positions of a ring are";
    auto at = parts.find(operand.get());
    if (at == parts.end())
      continue;
    InFlightDiagnostic diag = claims.fault(op);
    diag << "takes " << claims.operandText(operand) << ", which is " << text(at->second)
         << "; only the rank's own, over all blocks, is what it says it is a shard of";
    claims.noteMaker(diag, operand.get());
  }
}

void checkOrder(Claims &claims) {
  std::optional<std::pair<Operation *, int64_t>> first;
  auto see = [&](Operation *op, std::optional<uint64_t> zigzag) {
    auto order = static_cast<int64_t>(zigzag.value_or(0));
    if (!first) {
      first = {op, order};
    } else if (first->second != order) {
      InFlightDiagnostic diag = claims.fault(op);
      auto say = [&](int64_t ranks) {
        return ranks ? "in zigzag over " + std::to_string(ranks) + " ranks" : "in order";
      };
      diag << "has its tokens " << say(order) << ", others " << say(first->second);
      diag.attachNote(first->first->getLoc()) << "others are these";
    }
  };
  nn::TrainingStepOp step = claims.getStep();
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    if (slot.getKind() == nn::SlotKind::Input && cast<RankedTensorType>(slot.getType()).getRank() > 1)
      see(slot, slot.getZigzag());
  step.walk([&](nn::PositionsOp op) { see(op, op.getZigzag()); });
}
} // namespace hocket::dist::judge
