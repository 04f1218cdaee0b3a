// Ranks of a lockstep run by their places along axes and sub-axes.
#pragma once
#include "dialect/Dist/Dist.h"
#include "passes/Interpreter/LockstepOps.h"

namespace hocket::dist {

/// Index of `rank` along an axis or sub-axis, and how many there are.
int64_t placeOn(const interpreter::RankGrid &grid, int64_t rank, const AxisRef &ref);
int64_t placesOn(const interpreter::RankGrid &grid, const AxisRef &ref);
/// Ranks that differ from `rank` along `refs` only, itself among them, in the order of `refs`, major to minor.
llvm::SmallVector<int64_t> groupOf(const interpreter::RankGrid &grid, int64_t rank, llvm::ArrayRef<AxisRef> refs);
/// Copies the elements of a box; both tensors have its rank. Sizes may be 0.
void copyBox(const nn::HostTensor &from, llvm::ArrayRef<int64_t> fromOrigin, nn::HostTensor &to,
             llvm::ArrayRef<int64_t> toOrigin, llvm::ArrayRef<int64_t> sizes);
/// Calls `act(index in a, index in b)` for each element of a box that begins at these places of tensors of these
/// shapes.
void forEachInBox(llvm::ArrayRef<int64_t> shapeA, llvm::ArrayRef<int64_t> originA, llvm::ArrayRef<int64_t> shapeB,
                  llvm::ArrayRef<int64_t> originB, llvm::ArrayRef<int64_t> sizes,
                  llvm::function_ref<void(int64_t, int64_t)> act);
} // namespace hocket::dist
