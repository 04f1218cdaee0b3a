// Axes and sub-axes as sets of pieces.
#include "passes/Dist/Judge/MeshAtoms.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;

namespace hocket::dist::judge {

int64_t sizeOf(ArrayRef<Atom> atoms) {
  int64_t product = 1;
  for (const Atom &atom : atoms)
    product *= atom.size;
  return product;
}

Atoms flat(ArrayRef<Atoms> cuts) {
  Atoms all;
  for (const Atoms &cut : cuts)
    all.append(cut);
  return all;
}

MeshAtoms::MeshAtoms(MeshOp mesh) : mesh(mesh) {
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
    bounds.push_back({1, axis.getSize()});
}

std::string MeshAtoms::faultOf(const AxisRef &ref) const {
  int64_t size = MeshOp(mesh).getAxisSize(ref.name);
  if (size == 0) {
    SmallVector<StringRef> known;
    for (auto axis : MeshOp(mesh).getAxes().getAsRange<MeshAxisAttr>())
      known.push_back(axis.getName());
    return llvm::formatv("mesh @{0} has no axis \"{1}\"{2}", MeshOp(mesh).getSymName(), ref.name.getValue(),
                         nn::knownNames(ref.name, known));
  }
  if (!ref.isWholeAxis() && size % (ref.pre * ref.size) != 0)
    return llvm::formatv("sub-axis {0} does not divide axis \"{1}\" of {2} devices", axesText(ref), ref.name.getValue(),
                         size);
  return {};
}

std::string MeshAtoms::add(const AxisRef &ref) {
  std::string fault = faultOf(ref);
  if (fault.empty() && !ref.isWholeAxis())
    for (int64_t bound : {ref.pre, ref.pre * ref.size})
      bounds[MeshOp(mesh).getAxisIndex(ref.name)].push_back(bound);
  return fault;
}

std::string MeshAtoms::finish() {
  for (auto [axis, list] : llvm::enumerate(bounds)) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
    for (size_t i = 1; i < list.size(); ++i)
      if (list[i] % list[i - 1] != 0)
        return llvm::formatv(
            "sub-axes cut axis \"{0}\" after {1} and after {2} parts; one number must divide the other",
            cast<MeshAxisAttr>(MeshOp(mesh).getAxes()[axis]).getName(), list[i - 1], list[i]);
  }
  return {};
}

bool MeshAtoms::sound(ArrayRef<AxisRef> refs) const {
  return llvm::all_of(refs, [&](const AxisRef &ref) { return faultOf(ref).empty(); });
}

Atoms MeshAtoms::of(const AxisRef &ref) const {
  Atoms atoms;
  int axis = static_cast<int>(MeshOp(mesh).getAxisIndex(ref.name));
  int64_t first = ref.isWholeAxis() ? 1 : ref.pre;
  int64_t last = ref.isWholeAxis() ? bounds[axis].back() : ref.pre * ref.size;
  for (auto [from, to] : llvm::zip(bounds[axis], ArrayRef(bounds[axis]).drop_front()))
    if (from >= first && to <= last)
      atoms.push_back({axis, from, to / from});
  return atoms;
}

Atoms MeshAtoms::of(ArrayRef<AxisRef> refs) const { return flat(cuts(refs)); }

Cuts MeshAtoms::cuts(ArrayRef<AxisRef> refs) const {
  Cuts all;
  for (const AxisRef &ref : refs)
    if (Atoms atoms = of(ref); !atoms.empty())
      all.push_back(atoms);
  return all;
}

std::string MeshAtoms::text(ArrayRef<Atom> atoms) const {
  SmallVector<AxisRef> refs;
  for (size_t i = 0; i < atoms.size();) {
    Atom whole = atoms[i++];
    for (; i < atoms.size() && atoms[i].axis == whole.axis && atoms[i].pre == whole.pre * whole.size; ++i)
      whole.size *= atoms[i].size;
    auto axis = cast<MeshAxisAttr>(MeshOp(mesh).getAxes()[static_cast<unsigned>(whole.axis)]);
    AxisRef ref{StringAttr::get(axis.getContext(), axis.getName()), whole.pre, whole.size};
    if (whole.size == axis.getSize())
      ref = {ref.name, 1, 0};
    refs.push_back(ref);
  }
  return axesText(refs);
}
} // namespace hocket::dist::judge
