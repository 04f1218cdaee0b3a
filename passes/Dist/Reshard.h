// How a value gets from the sharding in which it is made to the one that a use needs, by the cheapest collectives:
//   partial -> split   reduce_scatter, where the split is over axes of which the value is partial
//   partial -> whole   all_reduce
//   whole -> split     slice (no communication)
//   split -> other dim all_to_all
//   split -> whole     all_gather
// What shrinks the value comes first: slices and reduce_scatters, then all_reduces, then what moves or grows it.
#pragma once
#include "passes/Dist/Propagation.h"

namespace hocket::dist {

enum class ReshardKind { AllReduce, ReduceScatter, AllGather, AllToAll, Slice };

struct ReshardStep {
  ReshardKind kind;
  int dim = -1;       ///< split, gathered; for AllToAll the one that is split
  int gatherDim = -1; ///< AllToAll
  Atoms axes;
  Spread after;
};

/// The steps from `from` to `to` of a value of global type `type`; none if they agree. Fails, without a message, if
/// `to` is partial where `from` is not: no plan asks for that.
llvm::FailureOr<llvm::SmallVector<ReshardStep>> planReshard(const AxisAtoms &atoms, mlir::RankedTensorType type,
                                                            const Spread &from, const Spread &to);
} // namespace hocket::dist
