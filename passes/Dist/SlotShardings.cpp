// Tactics on slots: names, dimensions, degrees, conflicts.
#include "passes/Dist/SlotShardings.h"
#include "dialect/Dist/AxesSyntax.h"
using namespace mlir;

namespace hocket::dist {
namespace {
int64_t rankOf(nn::SlotOp slot) { return cast<RankedTensorType>(slot.getType()).getRank(); }

/// The dimension of an input that counts sequences: 0, and 1 in what begin sees of the whole step, [microbatches, rows,
/// …]. The number of the step has none.
int rowsDimension(nn::SlotOp slot) {
  if (slot.getKind() != nn::SlotKind::Input || rankOf(slot) == 0)
    return -1;
  return slot.getName().ends_with(".all") ? 1 : 0;
}

std::string nearestParameter(nn::TrainingStepOp step, StringRef pattern) {
  SmallVector<StringRef> names;
  SmallVector<std::string> starred;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    if (slot.getKind() == nn::SlotKind::Param) {
      names.push_back(slot.getName());
      starred.push_back(starredName(slot.getName()));
    }
  if (pattern.contains('*'))
    names.assign(starred.begin(), starred.end());
  return nn::nearestName(pattern, names).str();
}
} // namespace

bool SlotShardings::add(nn::SlotOp slot, int dim, ArrayRef<AxisRef> refs, Operation *tactic) {
  SmallVector<AxisRef> axes; // a split over one device is none
  llvm::copy_if(refs, std::back_inserter(axes), [&](const AxisRef &ref) { return axisSize(mesh, ref) > 1; });
  if (axes.empty())
    return true;
  Entry &entry = entries[slot];
  if (entry.dims.empty()) {
    entry.dims.resize(rankOf(slot));
    entry.tactics.resize(rankOf(slot));
  }
  auto conflict = [&](int other, StringRef what) {
    Operation *earlier = entry.tactics[other];
    if (!refused.insert((tacticText(tactic) + "|" + tacticText(earlier))).second)
      return false;
    InFlightDiagnostic diag = tactic->emitOpError()
                              << "splits dimension " << dim << " of \"" << slot.getName() << "\" over "
                              << plainAxes(axes) << ", but " << what << ' ' << other << " is split over "
                              << plainAxes(entry.dims[other].axes) << " already";
    diag.attachNote(earlier->getLoc()) << "split by this tactic: " << tacticText(earlier);
    diag.attachNote(slot.getLoc()) << "the parameter is declared here";
    return false;
  };
  for (auto [other, split] : llvm::enumerate(entry.dims)) {
    if (split.axes.empty() || (static_cast<int>(other) == dim && split.axes == axes))
      continue;
    if (static_cast<int>(other) == dim)
      return conflict(dim, "its dimension");
    for (const AxisRef &ref : axes)
      if (overlaps(split.axes, ref))
        return conflict(static_cast<int>(other), "its dimension");
  }
  entry.dims[dim].axes.assign(axes.begin(), axes.end());
  entry.tactics[dim] = tactic;
  return true;
}

bool SlotShardings::splitBatch(BatchOp tactic) {
  ArrayRef<AxisRef> axes = tacticAxes(tactic);
  int64_t ranks = axesSize(mesh, axes);
  bool sound = true;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    int dim = rowsDimension(slot);
    if (dim < 0)
      continue;
    int64_t rows = cast<RankedTensorType>(slot.getType()).getDimSize(dim);
    int64_t wanted = static_cast<int64_t>(tactic.getMicrobatch()) * ranks;
    if (rows != wanted && refused.insert("rows").second) {
      InFlightDiagnostic diag = tactic.emitOpError()
                                << "takes " << tactic.getMicrobatch() << " sequences on each of " << ranks
                                << " data-parallel ranks, " << wanted << " in all, but a microbatch of @"
                                << step.getSymName() << " has " << rows;
      diag.attachNote(step.getLoc()) << "the batch was fixed here";
      sound = false;
    }
    if (rows == wanted)
      sound &= add(slot, dim, axes, tactic);
  }
  return sound;
}

/// Heads must be split evenly, in whole KV groups, unless the plan says `uneven`: then each rank has as many whole
/// groups as there are left. Query heads of one group are never split unevenly. Other dimensions may be uneven.
bool SlotShardings::checkDegree(SplitOp tactic, const DimensionClass &info, nn::SlotOp slot) {
  int64_t degree = axesSize(mesh, tactic.getAxes().getRefs());
  if (!info.attention || info.size % degree == 0 || (tactic.getUneven() && info.kind == DimensionKind::Heads))
    return true;
  std::string what = std::to_string(info.size) + (info.kind == DimensionKind::Groups ? " query heads of each KV head"
                                                  : headCount(info.attention) == info.size ? " heads"
                                                                                           : " KV heads");
  if (!refused.insert(tacticText(tactic) + what).second)
    return false;
  InFlightDiagnostic diag = tactic.emitOpError()
                            << "cannot split " << what << " of \"" << slot.getName() << "\" over "
                            << plainAxes(tactic.getAxes().getRefs()) << ", " << degree << " ranks; legal degrees for "
                            << what << ": " << degreesText(legalDegrees(info.size, info.size));
  if (info.kind == DimensionKind::Heads && headCount(info.attention) != info.size)
    diag << "; `split megatron` also repeats KV heads: "
         << degreesText(legalDegrees(headCount(info.attention), info.size));
  diag.attachNote(nn::AttentionOp(info.attention).getLoc()) << "heads are those of this attention";
  diag.attachNote(tactic.getLoc()) << "stages have no such limit: they are cut between layers";
  return false;
}

bool SlotShardings::splitNamed(SplitOp tactic, const DimensionClasses &classes) {
  bool sound = true, found = false;
  auto named = static_cast<int64_t>(*tactic.getDim());
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    if (slot.getKind() != nn::SlotKind::Param || !nn::matchesName(*tactic.getPattern(), slot.getName()))
      continue;
    found = true;
    int dim = static_cast<int>(std::min<int64_t>(named, rankOf(slot)));
    if (named >= rankOf(slot)) {
      if (refused.insert(tacticText(tactic) + "|dim").second) {
        InFlightDiagnostic diag = tactic.emitOpError()
                                  << "names dimension " << named << " of \"" << slot.getName() << "\", which has "
                                  << rankOf(slot) << "; dimensions count from 0";
        diag.attachNote(slot.getLoc()) << "declared here as " << slot.getType();
      }
      sound = false;
      continue;
    }
    if (!checkDegree(tactic, classes.of(slot, dim), slot) || !add(slot, dim, tactic.getAxes().getRefs(), tactic))
      sound = false;
    else
      splits.push_back({slot, dim, SmallVector<AxisRef>(tactic.getAxes().getRefs()), tactic.getUneven()});
  }
  if (!found) {
    std::string nearest = nearestParameter(step, *tactic.getPattern());
    InFlightDiagnostic diag = tactic.emitOpError() << "names \"" << *tactic.getPattern()
                                                   << "\", which fits no parameter of @" << step.getModel();
    if (!nearest.empty())
      diag << "; did you mean \"" << nearest << "\"?";
  }
  return sound && found;
}

bool SlotShardings::splitParameters(SplitOp tactic, const DimensionClasses &classes) {
  if (!tactic.getForm())
    return splitNamed(tactic, classes);
  FailureOr<SmallVector<ExplicitSplit>> chosen = megatronSplits(classes, tactic, mesh);
  if (failed(chosen))
    return false;
  bool sound = true;
  for (const ExplicitSplit &split : *chosen) {
    if (leftToExperts(split.param, split.axes))
      continue;
    sound &= add(split.param, split.dim, split.axes, tactic);
    splits.push_back(split);
  }
  return sound;
}

SmallVector<std::pair<nn::SlotOp, int>> SlotShardings::splitOver(ArrayRef<AxisRef> axes) const {
  SmallVector<std::pair<nn::SlotOp, int>> found;
  for (auto &[op, entry] : entries)
    for (auto [dim, split] : llvm::enumerate(entry.dims))
      if (llvm::any_of(split.axes, [&](const AxisRef &ref) { return overlaps(axes, ref); }))
        found.push_back({cast<nn::SlotOp>(op), static_cast<int>(dim)});
  return found;
}

void SlotShardings::write() {
  auto meshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    bool outside = llvm::is_contained({nn::SlotKind::Input, nn::SlotKind::Output}, slot.getKind());
    if (auto at = entries.find(slot); at != entries.end())
      slot.setShardingAttr(ShardingAttr::get(step.getContext(), meshName, at->second.dims, {}, Reduction::Sum));
    else if (outside)
      slot.setShardingAttr(ShardingAttr::whole(meshName, rankOf(slot)));
  }
}
} // namespace hocket::dist
