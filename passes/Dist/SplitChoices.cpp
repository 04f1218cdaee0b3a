// Classes of dimensions as choices.
#include "passes/Dist/SplitChoices.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {
namespace {
using Refs = SmallVector<AxisRef>;
/// The classes that are decided together in one place of the model: those of one attention, or one class.
using Unit = SmallVector<const DimensionClass *, 2>;

StringRef kindText(DimensionKind kind) {
  switch (kind) {
  case DimensionKind::Heads:
    return "heads";
  case DimensionKind::Groups:
    return "query heads of each KV head";
  case DimensionKind::Vocabulary:
    return "vocabulary";
  case DimensionKind::Inner:
    return "inner size";
  case DimensionKind::Experts:
    return "experts";
  case DimensionKind::Whole:
  case DimensionKind::Other:
    return "dimension";
  }
  return "dimension";
}

class Choices {
public:
  Choices(ArrayRef<AxisRef> axes, MeshOp mesh, ArrayRef<std::pair<nn::SlotOp, int>> taken)
      : axes(axes), mesh(mesh), degree(axesSize(mesh, axes)) {
    for (auto [slot, dim] : taken)
      taken_.insert({slot, dim});
  }

  SmallVector<SplitChoice> find(const DimensionClasses &classes) {
    llvm::MapVector<Operation *, Unit> ofAttention;
    SmallVector<Unit> units;
    llvm::DenseSet<Operation *> takenAttention; // heads are decided together, also by who decided before
    for (const DimensionClass &info : classes.all())
      if (info.attention && isTaken(info))
        takenAttention.insert(info.attention);
    for (const DimensionClass &info : classes.all()) {
      if (info.kind == DimensionKind::Whole || info.ofPositions || isTaken(info) ||
          takenAttention.contains(info.attention))
        continue;
      if (info.attention)
        ofAttention[info.attention].push_back(&info);
      else if (info.kind == DimensionKind::Experts ? info.size % degree == 0 : info.size >= degree)
        units.push_back({&info});
    }
    for (auto &[op, unit] : ofAttention)
      units.push_back(unit);
    SmallVector<SmallVector<Unit>> alike;
    llvm::StringMap<size_t> index;
    for (const Unit &unit : units) {
      auto [at, fresh] = index.try_emplace(signature(unit), alike.size());
      if (fresh)
        alike.emplace_back();
      alike[at->second].push_back(unit);
    }
    SmallVector<SplitChoice> choices;
    for (const SmallVector<Unit> &list : alike)
      if (SplitChoice choice = choiceOf(list); choice.options.size() > 1)
        choices.push_back(std::move(choice));
    return choices;
  }

private:
  bool isTaken(const DimensionClass &info) const {
    return llvm::any_of(info.params, [&](auto &param) { return taken_.contains({param.first, param.second}); });
  }

  /// What a unit is, whatever its parameters are called.
  std::string signature(const Unit &unit) const {
    SmallVector<std::string> parts;
    for (const DimensionClass *info : unit)
      for (auto [slot, dim] : info->params) {
        std::string part;
        llvm::raw_string_ostream(part) << nn::SlotOp(slot).getType() << " dim " << dim;
        parts.push_back(part);
      }
    llvm::sort(parts);
    std::string text = llvm::join(parts, "; ");
    for (const DimensionClass *info : unit)
      text += (" " + Twine(static_cast<int>(info->kind)) + " of " + Twine(info->size)).str();
    return text;
  }

  SplitChoice choiceOf(ArrayRef<Unit> units) {
    SplitChoice choice{textOf(units.front()), {{"whole", {}}}};
    if (nn::AttentionOp attention = units.front().front()->attention) {
      addHeads(choice, units, attention);
      return choice;
    }
    SplitOption split{choice.what, {}};
    for (const Unit &unit : units)
      addSplits(split, *unit.front(), axes);
    choice.options.push_back(std::move(split));
    return choice;
  }

  static std::string textOf(const Unit &unit) {
    if (nn::AttentionOp attention = unit.front()->attention)
      return headsText(attention);
    return (kindText(unit.front()->kind) + " of " + Twine(unit.front()->size)).str();
  }

  static void addSplits(SplitOption &option, const DimensionClass &info, ArrayRef<AxisRef> refs) {
    for (auto [param, dim] : info.params)
      option.splits.push_back({param, dim, Refs(refs)});
  }

  /// KV heads over the major `a` ranks, query heads of each over the next `b`: every pair with the greatest product.
  void addHeads(SplitChoice &choice, ArrayRef<Unit> units, nn::AttentionOp attention) {
    int64_t kv = kvHeadCount(attention), group = headCount(attention) / kv, most = 1;
    struct Cut {
      int64_t a, b;
      Refs major, minor;
    };
    SmallVector<Cut> cuts;
    for (int64_t a = kv; a >= 1; --a)
      for (int64_t b = group; b >= 1; --b) {
        if (kv % a || group % b || degree % (a * b))
          continue;
        auto major = cutAxes(mesh, axes, a);
        auto minor = succeeded(major) ? cutAxes(mesh, major->second, b) : FailureOr<std::pair<Refs, Refs>>(failure());
        if (failed(minor))
          continue;
        cuts.push_back({a, b, major->first, minor->first});
        most = std::max(most, a * b);
      }
    for (const Cut &cut : cuts) {
      if (cut.a * cut.b < most || most == 1)
        continue;
      SplitOption option{choice.what + " over " + std::to_string(cut.a * cut.b), {}};
      for (const Unit &unit : units)
        for (const DimensionClass *info : unit) {
          const Refs &refs = info->kind == DimensionKind::Heads ? cut.major : cut.minor;
          if (axesSize(mesh, refs) > 1)
            addSplits(option, *info, refs);
        }
      choice.options.push_back(std::move(option));
    }
  }

  ArrayRef<AxisRef> axes;
  MeshOp mesh;
  int64_t degree;
  llvm::DenseSet<std::pair<Operation *, int>> taken_;
};
} // namespace

SmallVector<SplitChoice> splitChoices(const DimensionClasses &classes, ArrayRef<AxisRef> axes, MeshOp mesh,
                                      ArrayRef<std::pair<nn::SlotOp, int>> taken) {
  return Choices(axes, mesh, taken).find(classes);
}
} // namespace hocket::dist
