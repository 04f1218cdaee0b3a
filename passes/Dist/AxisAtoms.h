// Mesh axes cut into atoms: the pieces of axes that shardings of one program use, so that a sub-axis and its whole axis
// can be compared. An axis of one device has no atom: a split over it is no split.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {

using Atom = int;                         ///< index into the table; atoms of an axis follow one another, major to minor
using Atoms = llvm::SmallVector<Atom, 2>; ///< major to minor
using AtomDims = llvm::SmallVector<Atoms, 4>; ///< one list for each dimension

class AxisAtoms {
public:
  /// Cuts the axes of `mesh` at the ends of all `refs`. Refs that name no axis of the mesh, or do not divide one
  /// another ("x":(1)2 and "x":(1)3), are reported at `where`.
  static llvm::FailureOr<AxisAtoms> create(MeshOp mesh, llvm::ArrayRef<AxisRef> refs, mlir::Operation *where);

  MeshOp getMesh() const { return mesh; }
  Atom count() const { return static_cast<Atom>(atoms.size()); } ///< atoms are numbered from 0
  int64_t size(Atom atom) const { return atoms[atom].size; }
  int64_t size(llvm::ArrayRef<Atom> list) const;
  AxisRef ref(Atom atom) const { return atoms[atom]; }

  Atoms fromRefs(llvm::ArrayRef<AxisRef> refs) const;
  /// Neighbouring atoms of one axis become one reference; all of an axis becomes the axis.
  ///   [tp:(1)2, tp:(2)2] is "tp" for tp=4
  llvm::SmallVector<AxisRef> toRefs(llvm::ArrayRef<Atom> list) const;

  AtomDims dimsOf(ShardingAttr sharding) const;
  Atoms partialOf(ShardingAttr sharding) const { return fromRefs(sharding.getPartial()); }
  ShardingAttr toSharding(llvm::ArrayRef<Atoms> dims, llvm::ArrayRef<Atom> partial,
                          Reduction reduction = Reduction::Sum) const;

private:
  MeshOp mesh;
  llvm::SmallVector<AxisRef> atoms; ///< with sizes, also where an atom is a whole axis
};

/// All refs of a sharding, of its dimensions and partial.
void collectRefs(ShardingAttr sharding, llvm::SmallVectorImpl<AxisRef> &refs);

bool isPrefix(llvm::ArrayRef<Atom> prefix, llvm::ArrayRef<Atom> list);
bool contains(llvm::ArrayRef<Atoms> dims, Atom atom);
} // namespace hocket::dist
