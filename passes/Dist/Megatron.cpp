// Finds the splits of `split megatron`.
#include "passes/Dist/Megatron.h"
#include "dialect/Dist/AxesSyntax.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {
using Refs = SmallVector<AxisRef>;

FailureOr<std::pair<Refs, Refs>> cutAxes(MeshOp mesh, ArrayRef<AxisRef> refs, int64_t size) {
  Refs major, minor;
  for (const AxisRef &ref : refs) {
    int64_t whole = axisSize(mesh, ref);
    if (size == 1) {
      minor.push_back(ref);
    } else if (size % whole == 0) {
      major.push_back(ref);
      size /= whole;
    } else if (whole % size == 0) {
      major.push_back({ref.name, ref.pre, size});
      minor.push_back({ref.name, ref.pre * size, whole / size});
      size = 1;
    } else {
      return failure();
    }
  }
  if (size != 1)
    return failure();
  return std::pair(major, minor);
}

namespace {
class MegatronSplits {
public:
  MegatronSplits(const DimensionClasses &classes, SplitOp tactic, MeshOp mesh)
      : classes(classes), tactic(tactic), mesh(mesh), axes(tactic.getAxes().getRefs()), degree(axesSize(mesh, axes)) {}

  FailureOr<SmallVector<ExplicitSplit>> find() {
    // The vocabulary first: a table is split by rows even where its columns could be.
    for (DimensionKind kind :
         {DimensionKind::Vocabulary, DimensionKind::Heads, DimensionKind::Groups, DimensionKind::Inner})
      for (const DimensionClass &info : classes.all())
        if (info.kind == kind)
          add(info);
    if (!sound)
      return failure();
    return std::move(splits);
  }

private:
  void add(const DimensionClass &info) {
    Refs refs(axes);
    if (info.attention) {
      bool isKv = info.kind == DimensionKind::Heads;
      FailureOr<Refs> part = partOfHeads(info.attention, isKv);
      if (failed(part))
        return;
      refs = *part;
    }
    // Twice on one parameter is for query heads and their groups, which share the axes; else the first stands.
    bool taken = llvm::any_of(info.params, [&](auto &param) {
      return llvm::any_of(splits, [&](ExplicitSplit &split) {
        return split.param == param.first && llvm::any_of(split.axes, [&](const AxisRef &a) {
                 return llvm::any_of(refs, [&](const AxisRef &b) { return overlap(a, b); });
               });
      });
    });
    if (taken || axesSize(mesh, refs) == 1)
      return;
    bool uneven = info.attention && info.size % axesSize(mesh, refs) != 0;
    for (auto [param, dim] : info.params)
      splits.push_back({param, dim, refs, uneven});
  }

  /// The axes for the KV heads, or for the query heads of each.
  FailureOr<Refs> partOfHeads(nn::AttentionOp attention, bool isKv) {
    int64_t heads = headCount(attention), kv = kvHeadCount(attention);
    SmallVector<int64_t> legal = legalDegrees(heads, kv);
    if (!llvm::is_contained(legal, degree)) {
      if (tactic.getUneven()) // whole KV groups
        return isKv ? Refs(axes) : Refs();
      refuse(attention, legal);
      return failure();
    }
    if (kv % degree == 0)
      return isKv ? Refs(axes) : Refs();
    FailureOr<std::pair<Refs, Refs>> cut = cutAxes(mesh, axes, kv);
    if (failed(cut)) {
      tactic.emitOpError() << "cannot cut " << axesText(axes) << " into " << kv << " KV heads and the rest";
      sound = false;
      return failure();
    }
    return isKv ? cut->first : cut->second;
  }

  /// One message for each number of heads, not one for each layer.
  void refuse(nn::AttentionOp attention, ArrayRef<int64_t> legal) {
    sound = false;
    std::string heads = headsText(attention);
    if (!refused.insert(heads).second)
      return;
    InFlightDiagnostic diag = tactic.emitOpError()
                              << "cannot split " << heads << " over " << plainAxes(axes) << ", " << degree
                              << " ranks; legal degrees for " << heads << ": " << degreesText(legal);
    diag.attachNote(attention.getLoc()) << "heads are those of this attention";
    diag.attachNote(tactic.getLoc()) << "stages have no such limit: they are cut between layers";
  }

  const DimensionClasses &classes;
  SplitOp tactic;
  MeshOp mesh;
  ArrayRef<AxisRef> axes;
  int64_t degree;
  SmallVector<ExplicitSplit> splits;
  llvm::StringSet<> refused;
  bool sound = true;
};
} // namespace

FailureOr<SmallVector<ExplicitSplit>> megatronSplits(const DimensionClasses &classes, SplitOp tactic, MeshOp mesh) {
  return MegatronSplits(classes, tactic, mesh).find();
}

std::string starredName(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef &part : parts)
    if (llvm::all_of(part, llvm::isDigit))
      part = "*";
  return llvm::join(parts, ".");
}

std::string splitText(StringRef pattern, int64_t dim, ArrayRef<AxisRef> refs) {
  std::string axes = axesText(refs);
  if (refs.size() == 1 && refs.front().isWholeAxis())
    axes = axes.substr(1, axes.size() - 2);
  return ("split \"" + pattern + "\" dim " + Twine(dim) + " over " + axes).str();
}

SmallVector<std::string> explicitTactics(ArrayRef<ExplicitSplit> splits) {
  SmallVector<std::string> tactics;
  for (const ExplicitSplit &split : splits) {
    nn::SlotOp param = split.param;
    std::string text = splitText(starredName(param.getName()), split.dim, split.axes) + (split.uneven ? " uneven" : "");
    if (!llvm::is_contained(tactics, text))
      tactics.push_back(text);
  }
  return tactics;
}
} // namespace hocket::dist
