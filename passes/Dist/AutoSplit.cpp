// Searches among forms, and writes the best into the plan.
#include "passes/Dist/AutoSplit.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Dist/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <map>
using namespace mlir;

namespace hocket::dist {

SmallVector<ExplicitSplit> AutoSplit::splitsOf(const SplitForm &form) const {
  SmallVector<ExplicitSplit> splits;
  for (auto [choice, option] : llvm::zip(choices, form.options))
    splits.append(choice.options[option].splits);
  return splits;
}

std::string AutoSplit::textOf(const SplitForm &form) const {
  SmallVector<std::string> parts;
  for (auto [choice, option] : llvm::zip(choices, form.options))
    if (option)
      parts.push_back(choice.options[option].what);
  return parts.empty() ? "nothing" : llvm::join(parts, ", ");
}

namespace {
SplitOp makeSplit(OpBuilder &builder, Location loc, StringRef pattern, int dim, ArrayRef<AxisRef> axes) {
  return SplitOp::create(builder, loc, builder.getStringAttr(pattern), builder.getI64IntegerAttr(dim), StringAttr(),
                         AxesAttr::get(builder.getContext(), axes));
}

class Search {
public:
  Search(AutoSplit &found, nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, SplitOp tactic,
         const AutoSplitOptions &options)
      : found(found), options(options), shortStep(ShortStep::of(step, plan, mesh)), context(step.getContext()) {
    for (auto [index, op] : llvm::enumerate(plan.getBody().front()))
      if (&op == tactic.getOperation())
        place = index;
    auto stages = plan.tactic<StagesOp>();
    this->stages = stages ? static_cast<double>(axesSize(mesh, stages.getAxes().getRefs())) : 1;
    nn::TrainingStepOp kept = *shortStep.getModule().getOps<nn::TrainingStepOp>().begin();
    for (auto slot : kept.getSlots().front().getOps<nn::SlotOp>())
      if (slot.getKind() == nn::SlotKind::Param)
        params.insert(slot.getName());
  }

  void run() {
    size_t count = found.choices.size();
    int64_t forms = 1;
    for (const SplitChoice &choice : found.choices)
      forms = std::min<int64_t>(forms * static_cast<int64_t>(choice.options.size()), int64_t(1) << 40);
    SmallVector<int> none(count, 0), all(count, 1);
    (void)price(none);
    if (forms <= options.exhaustive) {
      priceAll(none, 0);
    } else {
      descend(none);
      descend(all);
    }
    for (auto &[key, cost] : priced)
      if (cost)
        found.forms.push_back({key, *cost});
    sort();
  }

private:
  using Form = SmallVector<int>;

  void priceAll(Form form, size_t choice) {
    if (choice == form.size()) {
      (void)price(form);
      return;
    }
    for (size_t option = 0; option < found.choices[choice].options.size(); ++option) {
      form[choice] = static_cast<int>(option);
      priceAll(form, choice + 1);
    }
  }

  /// Seconds, and behind all that fit in memory what does not; infinite if the form is refused.
  double rankOf(const Form &form) {
    const std::optional<StepCost> &cost = price(form);
    return cost ? rankOf(*cost) : std::numeric_limits<double>::infinity();
  }
  double rankOf(const StepCost &cost) const {
    double excess = cost.restBytes / stages - options.machine.capacity;
    return excess > 0 ? 1e9 + excess : cost.seconds();
  }

  void descend(Form form) {
    double best = rankOf(form);
    for (bool changed = true; changed;) {
      changed = improve(form, best, /*pairs=*/false) || improve(form, best, /*pairs=*/true);
    }
  }
  bool improve(Form &form, double &best, bool pairs) {
    Form winner = form;
    auto consider = [&](const Form &other) {
      if (double rank = rankOf(other); rank < best) {
        best = rank;
        winner = other;
      }
    };
    eachChange(form, 0, [&](const Form &one, size_t changed) {
      if (pairs)
        eachChange(one, changed + 1, [&](const Form &two, size_t) { consider(two); });
      else
        consider(one);
    });
    bool gained = winner != form;
    form = winner;
    return gained;
  }
  void eachChange(const Form &form, size_t from, llvm::function_ref<void(const Form &, size_t)> see) const {
    for (size_t choice = from; choice < form.size(); ++choice)
      for (size_t option = 0; option < found.choices[choice].options.size(); ++option) {
        Form other = form;
        other[choice] = static_cast<int>(option);
        if (other != form)
          see(other, choice);
      }
  }

  const std::optional<StepCost> &price(const Form &form) {
    auto [at, fresh] = priced.try_emplace(form);
    if (fresh)
      at->second = compile(form);
    return at->second;
  }

  std::optional<StepCost> compile(const Form &form) {
    OwningOpRef<ModuleOp> module(shortStep.getModule().clone());
    PlanOp plan = *module->getOps<PlanOp>().begin();
    replaceTactic(plan, form);
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
    PassManager manager(context);
    manager.enableVerifier(false);
    manager.addPass(createApplyPlanPass(ApplyPlanPassOptions{options.wholeBelow, /*print=*/false}));
    manager.addPass(createPropagateShardingsPass());
    manager.addPass(createPartitionPass());
    if (failed(manager.run(*module)))
      return std::nullopt;
    return costOf(*module->getOps<nn::TrainingStepOp>().begin(), *module->getOps<MeshOp>().begin(), shortStep,
                  options.machine);
  }

  /// Parameters by their full names, as far as they are in the short step. Forms of later tactics are not known yet.
  void replaceTactic(PlanOp plan, const Form &form) const {
    Operation *tactic = &*std::next(plan.getBody().front().begin(), static_cast<int64_t>(place));
    OpBuilder builder(tactic);
    for (const ExplicitSplit &split : found.splitsOf({form, {}}))
      if (nn::SlotOp param = split.param; params.contains(param.getName()))
        makeSplit(builder, tactic->getLoc(), param.getName(), split.dim, split.axes);
    tactic->erase();
    for (auto other : llvm::make_early_inc_range(plan.getBody().front().getOps<SplitOp>()))
      if (other.getForm() == StringRef("auto"))
        other.erase();
  }

  void sort() {
    llvm::stable_sort(found.forms,
                      [&](const SplitForm &a, const SplitForm &b) { return rankOf(a.cost) < rankOf(b.cost); });
    if (found.forms.empty())
      return;
    double least = rankOf(found.forms.front().cost);
    auto *end = std::find_if(found.forms.begin(), found.forms.end(),
                             [&](const SplitForm &form) { return rankOf(form.cost) > 1.001 * least; });
    std::stable_sort(found.forms.begin(), end,
                     [](const SplitForm &a, const SplitForm &b) { return a.cost.restBytes < b.cost.restBytes; });
  }

  AutoSplit &found;
  const AutoSplitOptions &options;
  ShortStep shortStep;
  MLIRContext *context;
  size_t place = 0; ///< of the tactic in its plan
  double stages = 1;
  llvm::StringSet<> params;
  std::map<Form, std::optional<StepCost>> priced;
};

/// `h.*.mlp.fc.weight` where every parameter that this names is split so, else each by its own name.
struct PatternedSplit {
  std::string pattern;
  int dim;
  SmallVector<AxisRef> axes;
};
SmallVector<PatternedSplit> patterned(nn::TrainingStepOp step, ArrayRef<ExplicitSplit> splits) {
  auto same = [](const ExplicitSplit &split, nn::SlotOp slot, const ExplicitSplit &as) {
    return split.param == slot && split.dim == as.dim && split.axes == as.axes;
  };
  SmallVector<PatternedSplit> result;
  for (const ExplicitSplit &split : splits) {
    nn::SlotOp param = split.param;
    std::string pattern = starredName(param.getName());
    bool covers = llvm::all_of(step.getSlots().front().getOps<nn::SlotOp>(), [&](nn::SlotOp slot) {
      return slot.getKind() != nn::SlotKind::Param || !nn::matchesName(pattern, slot.getName()) ||
             llvm::any_of(splits, [&](const ExplicitSplit &other) { return same(other, slot, split); });
    });
    if (!covers)
      pattern = param.getName().str();
    if (llvm::none_of(result, [&](const PatternedSplit &known) {
          return known.pattern == pattern && known.dim == split.dim && known.axes == split.axes;
        }))
      result.push_back({pattern, split.dim, split.axes});
  }
  return result;
}

std::string secondsText(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g ms", seconds * 1e3);
  return text;
}
} // namespace

AutoSplit findAutoSplit(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, const DimensionClasses &classes,
                        SplitOp tactic, ArrayRef<std::pair<nn::SlotOp, int>> taken, const AutoSplitOptions &options) {
  AutoSplit found;
  if (axesSize(mesh, tactic.getAxes().getRefs()) == 1)
    return found;
  found.choices = splitChoices(classes, tactic.getAxes().getRefs(), mesh, taken);
  Search(found, step, plan, mesh, tactic, options).run();
  return found;
}

FailureOr<SmallVector<SplitOp>> writeAutoSplit(nn::TrainingStepOp step, MeshOp mesh, const AutoSplit &found,
                                               SplitOp tactic) {
  SmallVector<SplitOp> written;
  ArrayRef<AxisRef> axes = tactic.getAxes().getRefs();
  int64_t degree = axesSize(mesh, axes);
  if (found.choices.empty() && degree > 1 && !found.forms.empty()) {
    tactic.emitOpError() << "finds nothing to split over " << plainAxes(axes) << ", " << degree
                         << " ranks: no dimension of a parameter is large enough, divides, and may be split";
    return failure();
  }
  if (!found.forms.empty()) {
    const SplitForm &best = found.forms.front();
    OpBuilder builder(tactic);
    SmallVector<ExplicitSplit> splits = found.splitsOf(best);
    llvm::stable_sort(splits, [](const ExplicitSplit &a, const ExplicitSplit &b) { // in the order of the model
      Operation *left = nn::SlotOp(a.param), *right = nn::SlotOp(b.param);
      return left != right && left->isBeforeInBlock(right);
    });
    for (const PatternedSplit &split : patterned(step, splits))
      written.push_back(makeSplit(builder, tactic.getLoc(), split.pattern, split.dim, split.axes));
    if (written.empty() && degree > 1 && found.forms.size() > 1)
      tactic.emitWarning() << "`split auto` splits nothing over " << plainAxes(axes) << ", whose " << degree
                           << " ranks will do the same work: a step is taken to last "
                           << secondsText(best.cost.seconds()) << " so, and "
                           << secondsText(found.forms[1].cost.seconds()) << " with the next best form ("
                           << found.textOf(found.forms[1]) << ")";
  }
  tactic.erase();
  return written;
}
} // namespace hocket::dist
