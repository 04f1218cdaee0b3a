// See RecomputeUnits.h.
#include "passes/Dist/RecomputeUnits.h"
#include "passes/Dist/ShortStep.h"
#include "passes/Dist/Tactics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {

/// The path of an op without the number of a use: `wte` of "wte#1".
static StringRef placeOf(Operation *op) { return nn::getPath(op).split('#').first; }

static std::string layerOfPath(StringRef path) {
  auto layer = layerOf(path);
  return layer ? (layer->first + "." + Twine(layer->second)).str() : std::string();
}
std::string RecomputeUnits::layer(Operation *op) { return layerOfPath(placeOf(op)); }

/// "h", "h.3", "h.3.attn" of "h.3.attn".
static SmallVector<StringRef> prefixes(StringRef path) {
  SmallVector<StringRef> all;
  for (size_t dot = path.find('.'); dot != StringRef::npos; dot = path.find('.', dot + 1))
    all.push_back(path.take_front(dot));
  if (!path.empty())
    all.push_back(path);
  return all;
}

std::string RecomputeUnits::unitOf(std::optional<StringRef> pattern, StringRef path) {
  std::string layer = layerOfPath(path);
  if (!pattern)
    return layer;
  for (StringRef prefix : prefixes(path))
    if (nn::matchesName(*pattern, prefix))
      return prefix.size() < layer.size() ? layer : prefix.str();
  return "";
}

/// "h.3.attn" as "h.*.attn".
static std::string withStars(StringRef path) {
  SmallVector<StringRef> parts;
  path.split(parts, '.');
  for (StringRef &part : parts)
    if (llvm::all_of(part, llvm::isDigit))
      part = "*";
  return llvm::join(parts, ".");
}

static void reportNamesNothing(RecomputeOp tactic, nn::TrainingStepOp step) {
  bool stars = tactic.getPattern() && tactic.getPattern()->contains('*');
  llvm::SetVector<StringRef> names;
  llvm::StringSet<> texts;
  for (Operation &op : step.getMicrobatch().front())
    if (nn::getPhase(&op) == nn::Phase::Forward)
      for (StringRef prefix : prefixes(placeOf(&op)))
        names.insert(texts.insert(stars ? withStars(prefix) : prefix.str()).first->first());
  InFlightDiagnostic diag = tactic.emitOpError();
  if (!tactic.getPattern()) {
    diag << "means all layers, and the model has none";
    return;
  }
  diag << "names '" << *tactic.getPattern() << "', which is no layer and no part of one"
       << nn::knownNames(*tactic.getPattern(), names.getArrayRef());
}

/// One path of ops under one tactic; true if it is named.
bool RecomputeUnits::add(RecomputeOp tactic, StringRef path) {
  std::optional<StringRef> pattern = tactic.getPattern();
  std::string name = unitOf(pattern, path);
  if (name.empty())
    return false;
  std::optional<Unit> &known = units[path];
  if (known && known->tactic.getKind() != tactic.getKind()) {
    std::string pair = tacticText(known->tactic) + " " + tacticText(tactic);
    if (conflicts.try_emplace(pair, tactic).second) {
      InFlightDiagnostic diag = tactic.emitOpError()
                                << "names " << path << " as " << stringifyRecompute(tactic.getKind()) << ", which is "
                                << stringifyRecompute(known->tactic.getKind())
                                << " by another tactic; each op is of one kind";
      diag.attachNote(known->tactic.getLoc()) << "named here, as `" << tacticText(known->tactic) << "`";
      sound = false;
    }
  } else if (!known || name.size() < known->name.size()) {
    known = Unit{tactic, name};
  }
  return true;
}

void RecomputeUnits::addAll(RecomputeOp tactic, nn::TrainingStepOp step) {
  bool any = false;
  llvm::StringSet<> seen;
  for (Operation &op : step.getMicrobatch().front())
    if (StringRef path = placeOf(&op); seen.insert(path).second)
      any |= add(tactic, path);
  if (any)
    return;
  reportNamesNothing(tactic, step);
  sound = false;
}

FailureOr<RecomputeUnits> RecomputeUnits::create(nn::TrainingStepOp step, PlanOp plan) {
  RecomputeUnits units;
  for (auto tactic : plan.getBody().front().getOps<RecomputeOp>()) {
    if (tactic.getKind() == Recompute::Auto) {
      tactic.emitOpError()
          << "is auto, which stands for what fits into the memory of a rank; give that with --memory BYTES";
      units.sound = false;
      continue;
    }
    units.addAll(tactic, step);
  }
  if (!units.sound)
    return failure();
  return units;
}

const RecomputeUnits::Unit *RecomputeUnits::of(Operation *op) const {
  auto at = units.find(placeOf(op));
  return at != units.end() && at->second ? &*at->second : nullptr;
}
} // namespace hocket::dist
