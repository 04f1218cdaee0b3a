// The typing rules of manual regions. Along each axis of the region, for an op of the mathematics:
//   all operands invariant                          results invariant
//   some invariant and some not                     refused: the gradient of the first would be partial, unseen
//   a factor of varying operands is split           results that have it vary there, the others are partial
//   an operand partial in which the op is linear    results partial
//   all replicated                                  results replicated
// Integers have no gradient: invariant ones count as replicated.
#include "dialect/Dist/LocalTypes.h"
using namespace mlir;

namespace hocket::dist {

struct LocalTyping::AxisUse {
  Operation *op;
  const nn::FactorRule &rule;
  StringRef axis;
  SmallVector<std::pair<unsigned, LocalType>> operands; ///< those that are tensors
  int split = -1;                                       ///< the factor that the axis splits
  unsigned splitBy = 0;                                 ///< the operand that says so
  bool invariant = false, partial = false;
};

InFlightDiagnostic LocalTyping::fault(Operation *at) {
  sound = false;
  return at->emitOpError();
}

bool LocalTyping::run(ArrayRef<LocalTypeAttr> arguments, bool reporting) {
  report = reporting;
  for (auto [argument, type] : llvm::zip(region.getArguments(), arguments))
    types[argument] = LocalTypes(type.getAxes());
  std::optional<ScopedDiagnosticHandler> quiet;
  if (!report)
    quiet.emplace(op.getContext(), [](Diagnostic &) { return success(); });
  for (Operation &each : region.front())
    visit(&each);
  return sound;
}

static bool isOverAxesOf(LocalOp op, AxesAttr axes) {
  return llvm::all_of(axes.getRefs(),
                      [&](const AxisRef &ref) { return ref.isWholeAxis() && op.axisIndex(ref.name) >= 0; });
}

void LocalTyping::visit(Operation *each) {
  if (auto convert = dyn_cast<ConvertOp>(each))
    return visitConvert(convert);
  if (auto offset = dyn_cast<OffsetOp>(each)) {
    if (!isOverAxesOf(op, offset.getAxes()))
      fault(each) << "is over " << axesText(offset.getAxes().getRefs()) << ", which are not axes of the region";
    return;
  }
  if (isa<nn::ReturnOp>(each))
    return;
  auto factors = dyn_cast<nn::FactorOpInterface>(each);
  if (!factors || isa<LocalOp>(each)) {
    fault(each) << "stands in a manual region; allowed: ops of the mathematics, dist.convert and dist.offset";
    return;
  }
  for (Value operand : each->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !of(operand))
      return; // its fault is told already
  nn::FactorRule rule = factors.getFactorRule();
  size_t axes = op.getAxes().size();
  SmallVector<LocalTypes> results(each->getNumResults(), LocalTypes(axes));
  bool all = true;
  for (size_t axis = 0; axis < axes; ++axis)
    all &= visitAxis(each, rule, axis, results);
  if (all)
    for (auto [result, type] : llvm::zip(each->getResults(), results))
      types[result] = type;
}

void LocalTyping::visitConvert(ConvertOp convert) {
  int64_t axis = op.axisIndex(convert.getAxis());
  const LocalTypes *now = of(convert.getX());
  if (axis < 0 || !now)
    return; // its verifier has told, or what makes x
  LocalType from = convert.getFrom().getAxes().front(), to = convert.getTo().getAxes().front();
  if (!((*now)[axis] == from)) {
    InFlightDiagnostic diag = fault(convert) << "takes a value as " << text(from) << " over \"" << convert.getAxis()
                                             << "\", but it is " << text((*now)[axis])
                                             << "; from there it may go: " << transfersFrom((*now)[axis].kind);
    diag.attachNote(convert.getX().getLoc()) << "made here";
    return;
  }
  LocalTypes made(*now);
  made[axis] = to;
  types[convert.getY()] = made;
  for (auto [other, type] : llvm::enumerate(made))
    if (static_cast<int64_t>(other) != axis && type.kind == LocalKind::Varying && to == type)
      fault(convert) << "makes dimension " << to.dim << " vary over two axes; in a region one axis cuts a dimension";
}

static std::string operandText(unsigned index) { return "operand " + std::to_string(index); }

/// An op sees invariant values alone, or none.
bool LocalTyping::checkInvariance(AxisUse &use) {
  int invariant = -1, other = -1;
  LocalType found;
  bool all = true;
  for (auto &[index, type] : use.operands) {
    bool gradient = hasGradient(use.op->getOperand(index).getType());
    all &= type.kind == LocalKind::Invariant;
    if (type.kind == LocalKind::Invariant && gradient)
      invariant = static_cast<int>(index);
    if (type.kind != LocalKind::Invariant && (gradient || type.kind != LocalKind::Replicated))
      other = static_cast<int>(index), found = type;
  }
  use.invariant = other < 0 && (all || invariant >= 0);
  if (invariant < 0 || other < 0)
    return true;
  InFlightDiagnostic diag = fault(use.op);
  diag << "has " << operandText(static_cast<unsigned>(invariant)) << " invariant and "
       << operandText(static_cast<unsigned>(other)) << ' ' << text(found) << " over \"" << use.axis
       << "\"; the gradient of the first would be partial and nothing would join it: convert it from invariant to "
          "replicated, whose transpose is the all_reduce";
  diag.attachNote(use.op->getOperand(static_cast<unsigned>(invariant)).getLoc())
      << "the invariant operand is made here";
  return false;
}

/// The one factor that the axis splits: all operands that have it vary there.
bool LocalTyping::findSplit(AxisUse &use) {
  for (auto &[index, type] : use.operands) {
    if (type.kind != LocalKind::Varying)
      continue;
    int factor = use.rule.operands[index][type.dim];
    if (use.split < 0) {
      use.split = factor, use.splitBy = index;
      continue;
    }
    if (factor == use.split)
      continue;
    fault(use.op) << "has factors " << use.rule.factors[use.split].name << " of " << operandText(use.splitBy) << " and "
                  << use.rule.factors[factor].name << " of " << operandText(index) << " both split over \"" << use.axis
                  << "\"; an axis may split one factor of an op";
    return false;
  }
  if (use.split < 0)
    return findOffset(use), true;
  if (use.rule.factors[use.split].whole) {
    fault(use.op) << "needs factor " << use.rule.factors[use.split].name << " whole, but " << operandText(use.splitBy)
                  << " varies there over \"" << use.axis << "\"; convert it before, by all_gather or all_to_all";
    return false;
  }
  for (auto &[index, type] : use.operands) {
    bool has = llvm::is_contained(use.rule.operands[index], use.split);
    if (!has || type.kind == LocalKind::Varying)
      continue;
    fault(use.op) << "has factor " << use.rule.factors[use.split].name << " split over \"" << use.axis << "\" in "
                  << operandText(use.splitBy) << " and whole in " << operandText(index) << ", which is " << text(type)
                  << "; operands that share a factor must vary alike";
    return false;
  }
  return checkOffset(use);
}

static bool hasOffsetOver(Operation *op, StringRef axis) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto offset = operand.getDefiningOp<OffsetOp>();
    return offset && offset.getAxes().getRefs().size() == 1 && offset.getAxes().getRefs()[0].name == axis;
  });
}

/// Rows of a table's gradient, positions: a factor that no operand has is split where the offset says so.
void LocalTyping::findOffset(AxisUse &use) {
  for (auto [factor, info] : llvm::enumerate(use.rule.factors)) {
    auto has = [&, index = static_cast<int>(factor)](ArrayRef<int> term) { return llvm::is_contained(term, index); };
    if (info.needsOffset && llvm::none_of(use.rule.operands, has) && hasOffsetOver(use.op, use.axis))
      use.split = static_cast<int>(factor);
  }
}

/// An op whose split factor is an index is told where its shard begins.
bool LocalTyping::checkOffset(AxisUse &use) {
  if (!use.rule.factors[use.split].needsOffset || hasOffsetOver(use.op, use.axis))
    return true;
  fault(use.op) << "has factor " << use.rule.factors[use.split].name << " split over \"" << use.axis
                << "\" and does not know where its shard begins; give it `offset` of dist.offset over \"" << use.axis
                << "\"";
  return false;
}

bool LocalTyping::checkPartial(AxisUse &use) {
  int multi = -1, whole = -1, joint = -1;
  bool good = true;
  for (auto &[index, type] : use.operands) {
    nn::Linearity linearity = use.rule.linearity[index];
    if (type.kind != LocalKind::Partial) {
      if (linearity == nn::Linearity::Joint)
        whole = static_cast<int>(index);
      continue;
    }
    use.partial = true;
    if (linearity == nn::Linearity::None) {
      fault(use.op) << "is not linear in " << operandText(index) << ", which is partial over \"" << use.axis
                    << "\"; convert it before: " << transfersFrom(LocalKind::Partial);
      good = false;
    } else if (linearity == nn::Linearity::Joint) {
      joint = static_cast<int>(index);
    } else if (multi >= 0) {
      fault(use.op) << "has " << operandText(static_cast<unsigned>(multi)) << " and " << operandText(index)
                    << " both partial over \"" << use.axis
                    << "\"; a sum of products is not the product of sums, so one of them must be converted before";
      good = false;
    } else {
      multi = static_cast<int>(index);
    }
  }
  if (joint >= 0 && whole >= 0) {
    fault(use.op) << "adds " << operandText(static_cast<unsigned>(joint)) << ", partial over \"" << use.axis
                  << "\", and " << operandText(static_cast<unsigned>(whole))
                  << ", which is not; that would count once for each rank, so convert the partial one before";
    good = false;
  }
  if (use.partial && use.split >= 0) {
    fault(use.op) << "has an operand partial over \"" << use.axis << "\", which also splits factor "
                  << use.rule.factors[use.split].name << " of " << operandText(use.splitBy)
                  << "; the summands would lie on ranks with other shards, so convert it before";
    good = false;
  }
  return good;
}

bool LocalTyping::typeResult(AxisUse &use, unsigned result, LocalType &made) {
  made = {use.invariant ? LocalKind::Invariant : use.partial ? LocalKind::Partial : LocalKind::Replicated};
  if (use.split < 0)
    return true;
  ArrayRef<int> term = use.rule.results[result];
  auto dim = llvm::find(term, use.split);
  if (dim != term.end()) {
    made = {LocalKind::Varying, dim - term.begin()};
    return true;
  }
  made = {LocalKind::Partial};
  if (use.rule.reduction == nn::ReductionKind::Sum)
    return true;
  fault(use.op) << "takes an extreme over factor " << use.rule.factors[use.split].name << ", which is split over \""
                << use.axis << "\"; only sums are partial in a region, so gather it before";
  return false;
}

bool LocalTyping::visitAxis(Operation *each, const nn::FactorRule &rule, size_t axis,
                            MutableArrayRef<LocalTypes> results) {
  AxisUse use{each, rule, op.axis(axis).getName(), {}};
  for (OpOperand &operand : each->getOpOperands())
    if (const LocalTypes *type = of(operand.get()))
      use.operands.push_back({operand.getOperandNumber(), (*type)[axis]});
  if (!checkInvariance(use) || !findSplit(use) || !checkPartial(use))
    return false;
  bool good = true;
  for (OpResult result : each->getResults())
    good &= typeResult(use, result.getResultNumber(), results[result.getResultNumber()][axis]);
  return good;
}
} // namespace hocket::dist
