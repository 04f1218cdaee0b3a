// Mesh axes cut into the pieces that a program speaks of, so that axes and sub-axes become comparable sets.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist::judge {

/// A piece "axis":(pre)size of a mesh axis that no other piece overlaps; at least 2 devices. Axes and pieces of one
/// device are none: a value split over them is whole.
struct Atom {
  int axis;
  int64_t pre, size;
  auto operator<=>(const Atom &) const = default;
};
using Atoms = llvm::SmallVector<Atom, 2>;

/// How a dimension is split: one entry for each axis or sub-axis, major to minor, as written. Where the dimension is
/// uneven it matters that "tp" of 4 is one cut (10 = 3 3 3 1) and not two (10 = 5 5 = 3 2 3 2).
using Cuts = llvm::SmallVector<Atoms, 1>;

class MeshAtoms {
public:
  explicit MeshAtoms(MeshOp mesh);

  /// Takes note of a reference, for `finish`. Returns its fault on this mesh as text, empty if it has none.
  std::string add(const AxisRef &ref);
  /// Forms the pieces. Returns the fault of two sub-axes that cut one axis so that neither nests in the other.
  std::string finish();

  /// Pieces of a sound reference, major to minor; none for one of a single device.
  Atoms of(const AxisRef &ref) const;
  Atoms of(llvm::ArrayRef<AxisRef> refs) const;
  Cuts cuts(llvm::ArrayRef<AxisRef> refs) const;
  /// False if some reference is not of this mesh.
  bool sound(llvm::ArrayRef<AxisRef> refs) const;

  MeshOp getMesh() const { return mesh; }
  /// {"dp", "tp":(1)2}: neighbours that make up a whole axis are written as one.
  std::string text(llvm::ArrayRef<Atom> atoms) const;

private:
  std::string faultOf(const AxisRef &ref) const;

  MeshOp mesh;
  llvm::SmallVector<llvm::SmallVector<int64_t>> bounds; ///< by axis: where pieces begin and end, ascending divisors
};

int64_t sizeOf(llvm::ArrayRef<Atom> atoms); ///< product
Atoms flat(llvm::ArrayRef<Atoms> cuts);
} // namespace hocket::dist::judge
