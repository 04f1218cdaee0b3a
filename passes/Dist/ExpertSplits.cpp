// The tactic `experts`: which dimensions of which parameters it splits, and over what it may.
#include "passes/Dist/AxisAtoms.h"
#include "passes/Dist/SlotShardings.h"
using namespace mlir;

namespace hocket::dist {

/// The last axes of the batch, `ranks` ranks together; none if no part of it has that many.
static SmallVector<AxisRef> minorPart(MeshOp mesh, ArrayRef<AxisRef> batch, int64_t ranks) {
  SmallVector<AxisRef> part;
  for (const AxisRef &ref : llvm::reverse(batch)) {
    int64_t size = axisSize(mesh, ref);
    if (ranks == 1)
      break;
    if (ranks % size != 0 && size % ranks != 0)
      return {};
    int64_t taken = std::min(size, ranks);
    part.insert(part.begin(), taken == size ? ref : AxisRef{ref.name, ref.pre * (size / taken), taken});
    ranks /= taken;
  }
  return ranks == 1 ? part : SmallVector<AxisRef>();
}

/// Sequences that a rank gives away and those that it keeps must lie side by side, so what axes experts share with the
/// batch are the batch's last ones.
bool SlotShardings::checkExpertAxes(ExpertsOp tactic) {
  auto batch = plan.tactic<BatchOp>();
  ArrayRef<AxisRef> axes = tactic.getAxes().getRefs(), data = batch ? tacticAxes(batch) : ArrayRef<AxisRef>();
  SmallVector<AxisRef> refs(axes);
  refs.append(data.begin(), data.end());
  FailureOr<AxisAtoms> atoms = AxisAtoms::create(mesh, refs, tactic);
  if (failed(atoms))
    return false;
  Atoms all = atoms->fromRefs(data), shared;
  for (Atom atom : atoms->fromRefs(axes))
    if (llvm::is_contained(all, atom))
      shared.push_back(atom);
  if (ArrayRef(all).take_back(shared.size()) == ArrayRef(shared))
    return true;
  SmallVector<AxisRef> legal = minorPart(mesh, data, atoms->size(shared));
  InFlightDiagnostic diag = tactic.emitOpError()
                            << "splits experts over " << plainAxes(axes)
                            << ", but the last axes that split the batch are "
                            << plainAxes(atoms->toRefs(ArrayRef(all).take_back(shared.size())))
                            << ": ranks that exchange tokens must hold sequences that lie side by side";
  if (!legal.empty())
    diag << "; expected " << plainAxes(legal) << " for " << atoms->size(shared) << " of the " << atoms->size(all)
         << " ranks";
  diag.attachNote(BatchOp(batch).getLoc()) << "batch split here";
  return false;
}

bool SlotShardings::splitExperts(ExpertsOp tactic, const DimensionClasses &classes) {
  ArrayRef<AxisRef> axes = tactic.getAxes().getRefs();
  int64_t degree = axesSize(mesh, axes);
  bool sound = checkExpertAxes(tactic), found = false;
  for (const DimensionClass &info : classes.all()) {
    if (info.kind != DimensionKind::Experts)
      continue;
    found = true;
    if (info.size % degree != 0) {
      sound = false;
      if (!refused.insert(("experts " + Twine(info.size)).str()).second)
        continue;
      InFlightDiagnostic diag = tactic.emitOpError()
                                << "cannot split " << info.size << " experts over " << plainAxes(axes) << ", " << degree
                                << " ranks; legal degrees for " << info.size
                                << " experts: " << degreesText(legalDegrees(info.size, info.size));
      diag.attachNote(info.neededWhole->getLoc())
          << "experts are those of this " << info.neededWhole->getName().stripDialect();
      continue;
    }
    for (auto [param, dim] : info.params)
      sound &= add(param, dim, axes, tactic);
  }
  if (!found)
    tactic.emitOpError() << "finds no experts in @" << step.getModel()
                         << "; weights of experts are those that dispatch or combine leads to by a product";
  return sound && found;
}

bool SlotShardings::leftToExperts(nn::SlotOp slot, ArrayRef<AxisRef> axes) const {
  auto at = entries.find(slot);
  if (at == entries.end())
    return false;
  for (auto [split, tactic] : llvm::zip(at->second.dims, at->second.tactics))
    if (isa_and_nonnull<ExpertsOp>(tactic) &&
        llvm::any_of(axes, [&, &split = split](const AxisRef &ref) { return overlaps(split.axes, ref); }))
      return true;
  return false;
}
} // namespace hocket::dist
