// Comparing states and putting them into words.
#include "passes/Dist/Judge/ValueState.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist::judge {

int64_t ValueState::splitBy(const Atom &atom) const {
  for (auto [dim, cuts] : llvm::enumerate(dims))
    for (const Atoms &cut : cuts)
      if (llvm::is_contained(cut, atom))
        return static_cast<int64_t>(dim);
  return -1;
}

bool ValueState::isPartialOver(const Atom &atom) const { return llvm::is_contained(partial, atom); }

void ValueState::addPartial(ArrayRef<Atom> atoms) {
  for (const Atom &atom : atoms)
    if (!isPartialOver(atom))
      partial.push_back(atom);
  llvm::sort(partial);
}

bool sameSplit(int64_t n, const Cuts &a, const Cuts &b) { return a == b || (flat(a) == flat(b) && !hasPadding(n, a)); }

bool hasPadding(int64_t n, const Cuts &cuts) { return n % sizeOf(flat(cuts)) != 0; }

bool paddingOnlyAtEnd(int64_t n, const Cuts &cuts) {
  if (cuts.empty())
    return true;
  int64_t first = llvm::divideCeil(n, sizeOf(cuts.front()));
  return first % sizeOf(flat(ArrayRef(cuts).drop_front())) == 0;
}

bool sameState(const ValueState &a, const ValueState &b) {
  if (a.global != b.global || a.partial != b.partial || (!a.partial.empty() && a.reduction != b.reduction))
    return false;
  for (int64_t dim = 0; dim < a.rank(); ++dim)
    if (!sameSplit(a.size(dim), a.dims[dim], b.dims[dim]))
      return false;
  return true;
}

std::string describeCuts(const MeshAtoms &mesh, const Cuts &cuts) {
  return cuts.empty() ? "whole" : "split over " + mesh.text(flat(cuts));
}

std::string describePartial(const MeshAtoms &mesh, const ValueState &state) {
  if (state.partial.empty())
    return "not partial";
  return "partial over " + mesh.text(state.partial) + " by " + stringifyReduction(state.reduction).str();
}

std::string describe(const MeshAtoms &mesh, const ValueState &state) {
  SmallVector<std::string> parts;
  for (auto [dim, cuts] : llvm::enumerate(state.dims))
    if (!cuts.empty())
      parts.push_back(describeCuts(mesh, cuts) + " in dimension " + std::to_string(dim));
  if (!state.partial.empty())
    parts.push_back(describePartial(mesh, state));
  return parts.empty() ? "whole" : llvm::join(parts, " and ");
}
} // namespace hocket::dist::judge
