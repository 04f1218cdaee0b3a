// Mesh axes cut into atoms.
#include "passes/Dist/AxisAtoms.h"
using namespace mlir;

namespace hocket::dist {
namespace {
/// Where the sub-axes of one axis begin and end, counted in devices of the part before: "tp":(2)2 of 8 gives 2 and 4.
FailureOr<SmallVector<int64_t>> cutPoints(StringRef axis, int64_t size, ArrayRef<AxisRef> refs, Operation *where) {
  SmallVector<int64_t> cuts{1, size};
  for (const AxisRef &ref : refs)
    if (ref.name == axis && !ref.isWholeAxis())
      cuts.append({ref.pre, ref.pre * ref.size});
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  for (auto [before, after] : llvm::zip(ArrayRef(cuts).drop_back(), ArrayRef(cuts).drop_front()))
    if (after % before != 0) {
      where->emitOpError() << "cuts axis \"" << axis << "\" of " << size << " devices at " << before << " and at "
                           << after << ", which is no multiple of it; sub-axes of one axis must lie inside one another";
      return failure();
    }
  return cuts;
}
} // namespace

FailureOr<AxisAtoms> AxisAtoms::create(MeshOp mesh, ArrayRef<AxisRef> refs, Operation *where) {
  AxisAtoms table;
  table.mesh = mesh;
  for (const AxisRef &ref : refs)
    if (mesh.getAxisSize(ref.name) == 0) {
      where->emitOpError() << "uses axis \"" << ref.name.getValue() << "\", which mesh @" << mesh.getSymName()
                           << " does not have";
      return failure();
    }
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>()) {
    if (axis.getSize() == 1)
      continue;
    FailureOr<SmallVector<int64_t>> cuts = cutPoints(axis.getName(), axis.getSize(), refs, where);
    if (failed(cuts))
      return failure();
    auto name = StringAttr::get(mesh.getContext(), axis.getName());
    for (size_t i = 0; i + 1 < cuts->size(); ++i)
      table.atoms.push_back({name, (*cuts)[i], (*cuts)[i + 1] / (*cuts)[i]});
  }
  return table;
}

int64_t AxisAtoms::size(ArrayRef<Atom> list) const {
  int64_t product = 1;
  for (Atom atom : list)
    product *= size(atom);
  return product;
}

Atoms AxisAtoms::fromRefs(ArrayRef<AxisRef> refs) const {
  Atoms list;
  for (const AxisRef &ref : refs)
    for (auto [index, atom] : llvm::enumerate(atoms)) {
      bool inside = ref.isWholeAxis() || (atom.pre >= ref.pre && atom.pre < ref.pre * ref.size);
      if (atom.name == ref.name && inside)
        list.push_back(static_cast<Atom>(index));
    }
  return list;
}

SmallVector<AxisRef> AxisAtoms::toRefs(ArrayRef<Atom> list) const {
  SmallVector<AxisRef> refs;
  for (Atom atom : list) {
    const AxisRef &ref = atoms[atom];
    if (!refs.empty() && refs.back().name == ref.name && refs.back().pre * refs.back().size == ref.pre)
      refs.back().size *= ref.size;
    else
      refs.push_back(ref);
  }
  for (AxisRef &ref : refs)
    if (ref.size == MeshOp(mesh).getAxisSize(ref.name))
      ref = AxisRef{ref.name};
  return refs;
}

AtomDims AxisAtoms::dimsOf(ShardingAttr sharding) const {
  AtomDims dims;
  for (const DimSharding &dim : sharding.getDims())
    dims.push_back(fromRefs(dim.axes));
  return dims;
}

ShardingAttr AxisAtoms::toSharding(ArrayRef<Atoms> dims, ArrayRef<Atom> partial, Reduction reduction) const {
  SmallVector<DimSharding> list;
  for (const Atoms &dim : dims)
    list.push_back({toRefs(dim), false});
  Atoms sorted(partial.begin(), partial.end());
  llvm::sort(sorted);
  MLIRContext *context = MeshOp(mesh).getContext();
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(MeshOp(mesh).getSymNameAttr()), list, toRefs(sorted),
                           sorted.empty() ? Reduction::Sum : reduction);
}

void collectRefs(ShardingAttr sharding, SmallVectorImpl<AxisRef> &refs) {
  for (const DimSharding &dim : sharding.getDims())
    refs.append(dim.axes.begin(), dim.axes.end());
  refs.append(sharding.getPartial().begin(), sharding.getPartial().end());
}

bool isPrefix(ArrayRef<Atom> prefix, ArrayRef<Atom> list) {
  return prefix.size() <= list.size() && list.take_front(prefix.size()) == prefix;
}
bool contains(ArrayRef<Atoms> dims, Atom atom) {
  return llvm::any_of(dims, [&](const Atoms &dim) { return llvm::is_contained(dim, atom); });
}
} // namespace hocket::dist
