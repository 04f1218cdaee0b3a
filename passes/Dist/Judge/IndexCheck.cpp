// Offsets and padding.
#include "passes/Dist/Judge/IndexCheck.h"
#include <cmath>
using namespace mlir;

namespace hocket::dist::judge {

// ---- offsets
namespace {
struct OffsetCheck {
  Claims &claims;
  Operation *op;

  /// The operand that is the offset in factor `index`, null if there is none.
  OpOperand *offsetOf(int64_t index) {
    auto ruled = cast<nn::FactorOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType().isInteger(64) && ruled.getOffsetFactor(operand.getOperandNumber()) == index)
        return &operand;
    return nullptr;
  }

  void missing(const nn::Factor &factor, const FactorSplit &split) {
    InFlightDiagnostic diag = claims.fault(op);
    diag << "has factor " << factor.name << ' ' << describeCuts(claims.getMesh(), split.cuts)
         << ", but no offset tells it where its shard begins";
    if (split.from)
      claims.noteMaker(diag, split.from->get());
  }

  void compare(OpOperand &given, const nn::Factor &factor, const FactorSplit &split) {
    auto offset = given.get().getDefiningOp<OffsetOp>();
    if (!offset) {
      claims.fault(op) << "takes " << claims.operandText(given) << " for its offset in factor " << factor.name
                       << ", which is made by no dist.offset";
      return;
    }
    if (!claims.sound(offset.getAxes()))
      return; // told at the offset
    Cuts cuts = claims.getMesh().cuts(offset.getAxes().getRefs());
    int64_t size = static_cast<int64_t>(offset.getSize());
    if (size == split.size && sameSplit(size, cuts, split.cuts))
      return;
    InFlightDiagnostic diag = claims.fault(op);
    diag << "takes the offset of a dimension of " << size << " elements " << describeCuts(claims.getMesh(), cuts)
         << ", but its factor " << factor.name << " has " << split.size << " elements "
         << describeCuts(claims.getMesh(), split.cuts);
    diag.attachNote(offset.getLoc()) << "offset made here";
    if (split.from)
      claims.noteMaker(diag, split.from->get());
  }

  /// An offset in a factor that needs none: of no factor at all, or of one that is not split.
  void superfluous(OpOperand &given) {
    auto offset = given.get().getDefiningOp<OffsetOp>();
    if (offset && claims.sound(offset.getAxes()) && claims.getMesh().of(offset.getAxes().getRefs()).empty())
      return; // over axes of one device it is 0
    InFlightDiagnostic diag = claims.fault(op);
    diag << "takes " << claims.operandText(given) << " for an offset, but no factor that needs one is split";
    if (offset)
      diag.attachNote(offset.getLoc()) << "offset made here";
  }
};
} // namespace

void checkOffset(Claims &claims, Operation *op, const nn::FactorRule &rule, ArrayRef<FactorSplit> splits) {
  OffsetCheck check{claims, op};
  SmallVector<OpOperand *> used;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    const FactorSplit &split = splits[index];
    if (!factor.needsOffset || split.cuts.empty())
      continue;
    OpOperand *given = check.offsetOf(static_cast<int64_t>(index));
    used.push_back(given);
    if (given)
      check.compare(*given, factor, split);
    else
      check.missing(factor, split);
  }
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get().getType().isInteger(64) && !llvm::is_contained(used, &operand))
      check.superfluous(operand);
}

// ---- padding
/// What padding must hold so that it does not change what the op makes of `operand`.
static double neutral(const nn::FactorRule &rule, OpOperand &operand) {
  bool real = isa<FloatType>(cast<RankedTensorType>(operand.get().getType()).getElementType());
  return real ? rule.padding : -1; // -1: a label that is not counted
}

static bool isReduced(const nn::FactorRule &rule, int factor) {
  return llvm::any_of(rule.results, [&](const auto &term) { return !llvm::is_contained(term, factor); });
}

static std::string real(double value) { return std::isinf(value) ? (value < 0 ? "-inf" : "inf") : nn::realText(value); }

void checkPadding(Claims &claims, Operation *op, const nn::FactorRule &rule, ArrayRef<FactorSplit> splits) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, index] : llvm::enumerate(rule.operands[operand.getOperandNumber()])) {
      const FactorSplit &split = splits[index];
      const nn::Factor &factor = rule.factors[index];
      bool atNumbers = factor.needsOffset && paddingOnlyAtEnd(split.size, split.cuts);
      if (!isReduced(rule, index) || !hasPadding(split.size, split.cuts) || atNumbers)
        continue;
      double needed = neutral(rule, operand);
      Padding held = claims.padding(operand.get(), static_cast<int64_t>(dim));
      if (held == needed)
        continue;
      InFlightDiagnostic diag = claims.fault(op);
      diag << "reduces over factor " << factor.name << " of " << split.size << " elements "
           << describeCuts(claims.getMesh(), split.cuts) << ", but the padding of " << claims.operandText(operand);
      if (held)
        diag << " holds " << real(*held);
      else
        diag << " is undefined";
      diag << "; it must be masked with " << real(needed);
      claims.noteMaker(diag, operand.get());
    }
}
} // namespace hocket::dist::judge
