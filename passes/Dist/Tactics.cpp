// Tactics as text, and their slots.
#include "passes/Dist/Tactics.h"
#include "dialect/Dist/AxesSyntax.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {

std::string plainAxes(ArrayRef<AxisRef> refs) {
  std::string text = axesText(refs);
  llvm::erase(text, '"');
  return refs.size() == 1 ? text.substr(1, text.size() - 2) : text;
}

ArrayRef<AxisRef> tacticAxes(Operation *tactic) {
  AxesAttr axes = llvm::TypeSwitch<Operation *, AxesAttr>(tactic)
                      .Case<BatchOp, SplitOp, StagesOp, ZeroOp, SequenceOp, ContextOp, ExpertsOp>(
                          [](auto op) { return op.getAxesAttr(); })
                      .Default([](Operation *) { return AxesAttr(); });
  return axes ? axes.getRefs() : ArrayRef<AxisRef>();
}

std::string tacticText(Operation *tactic) {
  std::string over = tacticAxes(tactic).empty() ? "" : " over " + plainAxes(tacticAxes(tactic));
  if (auto split = dyn_cast<SplitOp>(tactic))
    return "split " +
           (split.getForm() ? split.getForm()->str() : (*split.getPattern() + " dim " + Twine(*split.getDim())).str()) +
           over + (split.getUneven() ? " uneven" : "");
  if (auto zero = dyn_cast<ZeroOp>(tactic))
    return ("zero " + Twine(zero.getStage())).str() + over +
           (zero.getGather() ? " gather " + stringifyGather(*zero.getGather()).str() : "");
  if (auto sequence = dyn_cast<SequenceOp>(tactic))
    return "sequence" + over + (sequence.getKeepGathered() ? " keep gathered" : "");
  if (auto context = dyn_cast<ContextOp>(tactic))
    return "context" + over + " " + stringifyContextKind(context.getKind()).str();
  if (auto recompute = dyn_cast<RecomputeOp>(tactic))
    return "recompute " + (recompute.getPattern() ? recompute.getPattern()->str() + " " : "") +
           stringifyRecompute(recompute.getKind()).str();
  if (auto offload = dyn_cast<OffloadOp>(tactic))
    return ("offload " + stringifyOffload(offload.getWhat())).str() +
           (offload.getPattern() ? " " + offload.getPattern()->str() : "");
  return tactic->getName().stripDialect().str() + over;
}

SmallVector<AxisRef> dataAxes(PlanOp plan, MeshOp mesh) {
  SmallVector<AxisRef> list;
  auto batch = plan.tactic<BatchOp>();
  llvm::copy_if(batch ? tacticAxes(batch) : ArrayRef<AxisRef>(), std::back_inserter(list),
                [&](const AxisRef &ref) { return axisSize(mesh, ref) > 1; });
  return list;
}

SmallVector<AxisRef> axesLeft(MeshOp mesh, ArrayRef<AxisRef> axes, ShardingAttr taken) {
  SmallVector<AxisRef> left;
  for (const AxisRef &ref : axes) {
    int64_t whole = mesh.getAxisSize(ref.name), begin = ref.pre, end = begin * axisSize(mesh, ref);
    SmallVector<AxisRef> used;
    for (const DimSharding &dim : taken.getDims())
      llvm::copy_if(dim.axes, std::back_inserter(used), [&](const AxisRef &other) { return other.name == ref.name; });
    llvm::sort(used, [](const AxisRef &a, const AxisRef &b) { return a.pre < b.pre; });
    auto keep = [&](int64_t from, int64_t to) {
      if (from < to)
        left.push_back(to / from == whole ? AxisRef{ref.name} : AxisRef{ref.name, from, to / from});
    };
    for (const AxisRef &other : used) {
      keep(begin, std::min(other.pre, end));
      begin = std::max(begin, other.pre * axisSize(mesh, other));
    }
    keep(begin, end);
  }
  return left;
}

StringRef parameterOf(StringRef accumulator) { return accumulator.take_front(accumulator.find('#')); }

bool overlaps(ArrayRef<AxisRef> refs, const AxisRef &ref) {
  return llvm::any_of(refs, [&](const AxisRef &other) { return overlap(other, ref); });
}

static bool splits(ZeroOp zero, nn::SlotKind kind) {
  bool param = llvm::is_contained({nn::SlotKind::Param, nn::SlotKind::Value}, kind);
  return (nn::isOptimizerState(kind) && zero.splitsState()) ||
         (kind == nn::SlotKind::Accumulator && zero.splitsAccumulators()) || (param && zero.splitsParameters());
}

Operation *tacticOf(PlanOp plan, nn::SlotOp slot, int64_t dim, const AxisRef &ref) {
  if (!plan)
    return nullptr;
  bool isState = nn::isOptimizerState(slot.getKind());
  auto zero = plan.tactic<ZeroOp>();
  auto used = dyn_cast_or_null<ShardingAttr>(slot.getUseAttr());
  bool inUse = used && overlaps(used.getDims()[dim].axes, ref);
  bool byZero = zero && splits(zero, slot.getKind()) && overlaps(tacticAxes(zero), ref) && !inUse;
  // Batch and experts may share axes; the batch splits inputs.
  auto experts = plan.tactic<ExpertsOp>();
  if (experts && slot.getKind() != nn::SlotKind::Input && !isState && !byZero && overlaps(tacticAxes(experts), ref))
    return experts;
  for (Operation &tactic : plan.getBody().front()) {
    if (!overlaps(tacticAxes(&tactic), ref))
      continue;
    if (auto split = dyn_cast<SplitOp>(tactic)) {
      bool names = split.getForm() ||
                   (split.getDim() == dim && nn::matchesName(*split.getPattern(), parameterOf(slot.getName())));
      if (names && slot.getKind() != nn::SlotKind::Input)
        return split;
    }
    if (isa<BatchOp, ContextOp>(tactic) && !byZero && !isState)
      return &tactic;
    if (isa<ZeroOp>(tactic) && byZero)
      return &tactic;
  }
  return nullptr;
}

PlanOp planOf(nn::TrainingStepOp step) {
  if (!step.getPlanAttr()) {
    step.emitOpError() << "is under no plan";
    return {};
  }
  auto plan = SymbolTable::lookupNearestSymbolFrom<PlanOp>(step, step.getPlanAttr());
  if (!plan)
    step.emitOpError() << "names plan @" << *step.getPlan() << ", which is not declared";
  return plan;
}

MeshOp meshOf(PlanOp plan) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(plan, plan.getMeshAttr());
  if (!mesh)
    plan.emitOpError() << "names mesh @" << plan.getMesh() << ", which is not declared";
  return mesh;
}

LogicalResult forEachPlannedStep(ModuleOp module,
                                 function_ref<LogicalResult(nn::TrainingStepOp, PlanOp, MeshOp)> work) {
  bool sound = true;
  for (auto step : module.getOps<nn::TrainingStepOp>()) {
    if (!step.getPlanAttr())
      continue;
    PlanOp plan = planOf(step);
    MeshOp mesh = plan ? meshOf(plan) : MeshOp();
    sound &= mesh && succeeded(work(step, plan, mesh));
  }
  return success(sound);
}
} // namespace hocket::dist
