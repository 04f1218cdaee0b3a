// Small changes of partitioned programs: building blocks of mutants and of equivalents. Each returns false, and changes
// nothing, where it does not fit the op.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::testing {
using Rewrite = bool (*)(mlir::Operation *op);

// ---- mutants
bool drop(mlir::Operation *op);           ///< its operand in place of its result; a slice in place of a reduce_scatter
bool repeat(mlir::Operation *op);         ///< an all_reduce of what was joined already
bool swapAxes(mlir::Operation *op);       ///< dp for tp and tp for dp
bool swapReduction(mlir::Operation *op);  ///< max for sum, sum for the others
bool otherMaskValue(mlir::Operation *op); ///< 1 for 0, 0 for the others
bool shorterDimension(mlir::Operation *op); ///< masks and offsets of two elements less
bool dropOffset(mlir::Operation *op);       ///< an op that took an offset takes none
/// The first (last) user takes the operand of an all_reduce, and its results are joined; claims are changed to fit.
bool movePastFirstUser(mlir::Operation *op);
bool movePastLastUser(mlir::Operation *op);
bool otherCast(mlir::Operation *op);    ///< a cast of summands becomes one of the sum, and the other way round
bool wrongPartial(mlir::Operation *op); ///< claims that its first result is partial over an axis, or is not any more
bool oneAxisLess(mlir::Operation *op);  ///< an all_reduce, a mask, an offset over all but the last of its axes
bool oneAxisMore(mlir::Operation *op);  ///< an all_reduce over an axis over which its operand is not partial
bool otherDimension(mlir::Operation *op);
bool exchangeBackwards(mlir::Operation *op);
bool joinTooEarly(mlir::Operation *op);    ///< joined where it is made, claimed to be partial still
bool dropAndClaim(mlir::Operation *op);    ///< an all_reduce less, and the claim that its operand was whole
bool sliceBeforeJoin(mlir::Operation *op); ///< slice(all_reduce(x)) as all_reduce(slice(x))
bool ringStep(mlir::Operation *op);        ///< one shift less
bool ringStepTwice(mlir::Operation *op);   ///< one shift more

// ---- equivalents
bool scatterAndGather(mlir::Operation *op); ///< for an all_reduce
bool reduceAndSlice(mlir::Operation *op);   ///< for a reduce_scatter
bool oneAxisAtATime(mlir::Operation *op);   ///< an all_reduce over several axes as several
bool oneValueAtATime(mlir::Operation *op);  ///< an all_reduce of several values as several
bool onceForEachUse(mlir::Operation *op);   ///< an all_reduce issued again for its last user
bool sliceAndGather(mlir::Operation *op);   ///< behind an all_reduce: a value cut up and put together
bool exchangeOnTheWay(mlir::Operation *op); ///< as above, with an all_to_all between
bool scatterSummands(mlir::Operation *op);  ///< a reduce_scatter of a sum as the sum of two
bool maskTwice(mlir::Operation *op);
bool joinOverOneDevice(mlir::Operation *op); ///< behind an all_reduce, over "dp" (of one device)
bool halvesOfAxis(mlir::Operation *op);      ///< an all_reduce over "tp" of 4 over its halves, one by one
bool partialBackwards(mlir::Operation *op);  ///< a claim with its partial axes in another order
bool splitInHalves(mlir::Operation *op);     ///< a claim with "tp" of 4 as its two halves, where shards are even
bool gatherAxesInTurn(mlir::Operation *op);  ///< an all_gather over several axes, the last one first
bool gatherHalves(mlir::Operation *op);      ///< over "tp" of 4 over its halves, the minor one first
bool scatterAxesInTurn(mlir::Operation *op); ///< a reduce_scatter over several axes, the first one first
bool scatterHalves(mlir::Operation *op);
bool gatherAndSliceForExchange(mlir::Operation *op); ///< for an all_to_all
bool exchangeThenGather(mlir::Operation *op);        ///< for an all_gather
bool sliceThenExchange(mlir::Operation *op);         ///< for a slice
bool scatterOtherThenExchange(mlir::Operation *op);  ///< for a reduce_scatter
bool scatterAndGatherLast(mlir::Operation *op);      ///< as scatterAndGather, of the last dimension that fits
bool gatherTwice(mlir::Operation *op);               ///< behind an all_gather: a slice and the gather again
bool gatherAndSlice(mlir::Operation *op);            ///< behind a reduce_scatter or a slice
bool computeOnShards(mlir::Operation *op);           ///< an elementwise op on shards of what tp's ranks all hold
bool joinSummands(mlir::Operation *op);              ///< an all_reduce of a sum as the sum of two
bool twoValuesAtOnce(mlir::Operation *op);           ///< two all_reduces next to one another as one
bool joinedAxesBackwards(mlir::Operation *op);
bool halvesOfAxisBackwards(mlir::Operation *op);
bool neighboursSwapped(mlir::Operation *op);
bool madeAgain(mlir::Operation *op); ///< an op once more for its last user
bool offsetForEachUse(mlir::Operation *op);
bool maskWithoutPadding(mlir::Operation *op);
bool splitOverOneDevice(mlir::Operation *op); ///< a claim that names "dp" (of one device)
} // namespace hocket::testing
