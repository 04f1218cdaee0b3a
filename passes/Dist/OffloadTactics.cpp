// See OffloadTactics.h.
#include "passes/Dist/OffloadTactics.h"
#include "passes/Dist/Megatron.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
using namespace mlir;

namespace hocket::dist {
namespace {
/// What offload tactics of one kind may name: paths of forward ops, up to each of their components, or parameters.
struct Names {
  llvm::SetVector<StringRef> all;
  llvm::StringSet<> stateful; ///< parameters with optimizer state

  explicit Names(nn::TrainingStepOp step, bool layers) {
    if (layers)
      for (Operation &op : step.getMicrobatch().front())
        addParts(nn::getPath(&op).split('#').first);
    for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
      if (nn::isOptimizerState(slot.getKind()))
        stateful.insert(slot.getName());
      if (slot.getKind() == nn::SlotKind::Param && !layers)
        all.insert(slot.getName());
    }
  }
  /// h.0.attn: h.0 and h.0.attn, and h alone.
  void addParts(StringRef path) {
    for (size_t end = 0; end != StringRef::npos && !path.empty();) {
      end = path.find('.', end + 1);
      all.insert(path.take_front(end));
    }
  }

  std::string nearest(StringRef pattern) const {
    SmallVector<std::string> starred;
    if (pattern.contains('*'))
      for (StringRef name : all)
        starred.push_back(starredName(name));
    SmallVector<StringRef> words(starred.begin(), starred.end());
    return nn::nearestName(pattern, pattern.contains('*') ? ArrayRef(words) : all.getArrayRef()).str();
  }
};

class OffloadChecks {
public:
  OffloadChecks(nn::TrainingStepOp step, PlanOp plan)
      : step(step), plan(plan), layers(step, /*layers=*/true), parameters(step, /*layers=*/false) {}

  bool run() {
    bool sound = true;
    SmallVector<OffloadOp> before;
    for (auto tactic : plan.getBody().front().getOps<OffloadOp>()) {
      sound &= namesSomething(tactic) && hasState(tactic);
      for (OffloadOp earlier : before)
        sound &= apart(earlier, tactic);
      before.push_back(tactic);
    }
    return sound;
  }

private:
  const Names &known(OffloadOp tactic) { return tactic.getWhat() == Offload::Activations ? layers : parameters; }

  /// What names a layer names all of it.
  static bool covers(OffloadOp tactic, StringRef name) {
    if (!tactic.getPattern())
      return true;
    bool layer = tactic.getWhat() == Offload::Activations;
    return nn::matchesName((*tactic.getPattern() + (layer ? ".**" : "")).str(), name);
  }

  bool namesSomething(OffloadOp tactic) {
    if (llvm::any_of(known(tactic).all, [&](StringRef name) { return covers(tactic, name); }))
      return true;
    StringRef pattern = tactic.getPattern().value_or("");
    auto error = tactic.emitOpError() << "names \"" << pattern << "\", which fits no "
                                      << (tactic.getWhat() == Offload::Activations ? "layer" : "parameter") << " of @"
                                      << step.getModel();
    if (std::string near = known(tactic).nearest(pattern); !near.empty())
      error << "; did you mean \"" << near << "\"?";
    else
      error << " (known: " << llvm::join(known(tactic).all, ", ") << ")";
    return false;
  }

  bool hasState(OffloadOp tactic) {
    if (tactic.getWhat() != Offload::OptimizerState)
      return true;
    StringRef without;
    for (StringRef name : parameters.all)
      if (covers(tactic, name)) {
        if (parameters.stateful.contains(name))
          return true;
        without = without.empty() ? name : without;
      }
    tactic.emitOpError() << "wants the optimizer state of '" << without
                         << "', which has none: it is frozen, or its optimizer keeps nothing";
    return false;
  }

  bool apart(OffloadOp earlier, OffloadOp later) {
    if (earlier.getWhat() != later.getWhat())
      return true;
    for (StringRef name : known(later).all)
      if (covers(earlier, name) && covers(later, name)) {
        auto error = later.emitOpError() << "names '" << name << "', which another `offload "
                                         << stringifyOffload(later.getWhat()) << "` names already";
        error.attachNote(earlier.getLoc()) << "named here first";
        return false;
      }
    return true;
  }

  nn::TrainingStepOp step;
  PlanOp plan;
  Names layers, parameters;
};
} // namespace

bool checkOffload(nn::TrainingStepOp step, PlanOp plan) {
  if (!plan.tactic<OffloadOp>())
    return true;
  return OffloadChecks(step, plan).run();
}
} // namespace hocket::dist
