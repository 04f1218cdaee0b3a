// How manual regions (dist.local) meet what is around them. Along its own axes a region says how its operands and
// results are split and partial, whatever its factors are; along all others it is an op like any, split by its factors.
// The partitioner puts the region's ops in place as they are and makes a collective of each convert.
#pragma once
#include "dialect/Dist/LocalTypes.h"
#include "passes/Dist/AxisAtoms.h"
#include "passes/Dist/StepGraph.h"

namespace hocket::dist {

/// What own axes make of one value of a region: nothing for ops that are no regions.
struct OwnSplit {
  AtomDims dims; ///< empty where the op is no region
  Atoms partial;
};
OwnSplit ownSplit(const AxisAtoms &atoms, LocalOp region, LocalTypeAttr types, int64_t rank);
OwnSplit ownSplit(const AxisAtoms &atoms, mlir::OpOperand &operand);
OwnSplit ownSplit(const AxisAtoms &atoms, mlir::OpResult result);
/// The atoms of a region's own axes; none for ops that are no regions.
Atoms ownAtoms(const AxisAtoms &atoms, mlir::Operation *op);

/// True for collectives that a region's converts became; known by their cause.
bool isOfRegion(mlir::Operation *collective);
/// The axes of every region have the sizes of the mesh's. Reports every region of which this is not true.
llvm::LogicalResult checkLocalRegions(const StepGraph &graph, MeshOp mesh);
} // namespace hocket::dist
