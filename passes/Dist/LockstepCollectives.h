// Reference semantics of the dist dialect for the interpreter: what every rank of a mesh holds after a collective, and
// how slots of a partitioned program relate to whole tensors. Plain loops; judges the partitioner, shares nothing with
// it.
#pragma once
#include "dialect/Dist/Dist.h"
#include "passes/Interpreter/Interpreter.h"

namespace hocket::dist {

/// The mesh as the interpreter knows it: the same axes in the same order.
interpreter::RankGrid rankGridOf(MeshOp mesh);
/// all_reduce, reduce_scatter, all_gather, all_to_all, shift, slice, mask, offset. Sums are taken in rank order.
void addLockstepCollectives(interpreter::LockstepOps &ops);
/// Slots that say what they are shards of (#dist.shard). Padding is NaN. A whole tensor becomes a partial one as itself
/// on the first rank of the partial axes and zeros on the others. Gathering fails, with an error, where ranks that hold
/// the same elements differ in a bit.
interpreter::SlotLayout slotLayoutOf(const interpreter::RankGrid &grid);

/// A rank's part of a dimension: elements [begin, end) of it, at the head of a local dimension of `size`.
/// Each axis in turn cuts what the ones before it left into pieces of ceil(n / devices).
///   10 over 4: [0,3) [3,6) [6,9) [9,10), size 3;  5 over 4: [0,2) [2,4) [4,5) [5,5), size 2
struct Piece {
  int64_t begin, end, size;
};
Piece pieceOf(const interpreter::RankGrid &grid, int64_t rank, int64_t n, llvm::ArrayRef<AxisRef> axes);
} // namespace hocket::dist
