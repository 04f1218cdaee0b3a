// Places of ranks, groups, boxes.
#include "passes/Dist/RankGroups.h"
#include "passes/Dist/LockstepCollectives.h"
using namespace mlir;

namespace hocket::dist {
using interpreter::RankGrid;
using nn::HostTensor;

static int64_t axisOf(const RankGrid &grid, StringRef name) {
  for (const RankGrid::Axis &axis : grid.axes)
    if (axis.name == name)
      return axis.size;
  return 1;
}

int64_t placesOn(const RankGrid &grid, const AxisRef &ref) {
  int64_t whole = axisOf(grid, ref.name.getValue());
  return ref.isWholeAxis() || whole == 1 ? whole : ref.size;
}

int64_t placeOn(const RankGrid &grid, int64_t rank, const AxisRef &ref) {
  int64_t whole = axisOf(grid, ref.name.getValue()), index = grid.coordinate(rank, ref.name.getValue());
  if (ref.isWholeAxis() || whole == 1)
    return index;
  return index / (whole / (ref.pre * ref.size)) % ref.size;
}

SmallVector<int64_t> groupOf(const RankGrid &grid, int64_t rank, ArrayRef<AxisRef> refs) {
  // Two ranks are of one group if they are alike once their places along `refs` are taken away.
  auto rest = [&](int64_t of) {
    SmallVector<int64_t> key;
    for (const RankGrid::Axis &axis : grid.axes) {
      int64_t index = grid.coordinate(of, axis.name);
      for (const AxisRef &ref : refs)
        if (ref.name.getValue() == axis.name && axis.size > 1)
          index -= placeOn(grid, of, ref) * (ref.isWholeAxis() ? 1 : axis.size / (ref.pre * ref.size));
      key.push_back(index);
    }
    return key;
  };
  auto order = [&](int64_t of) {
    SmallVector<int64_t> key;
    for (const AxisRef &ref : refs)
      key.push_back(placeOn(grid, of, ref));
    return key;
  };
  SmallVector<int64_t> group, mine = rest(rank);
  for (int64_t other = 0; other < grid.ranks(); ++other)
    if (rest(other) == mine)
      group.push_back(other);
  llvm::sort(group, [&](int64_t a, int64_t b) { return order(a) < order(b); });
  return group;
}

Piece pieceOf(const RankGrid &grid, int64_t rank, int64_t n, ArrayRef<AxisRef> axes) {
  Piece piece{0, n, n};
  for (const AxisRef &ref : axes) {
    int64_t size = llvm::divideCeil(piece.size, placesOn(grid, ref));
    piece.begin += placeOn(grid, rank, ref) * size;
    piece.end = std::min(piece.end, piece.begin + size);
    piece.size = size;
  }
  piece.end = std::max(piece.end, piece.begin); // a shard may be empty
  return piece;
}

void forEachInBox(ArrayRef<int64_t> shapeA, ArrayRef<int64_t> originA, ArrayRef<int64_t> shapeB,
                  ArrayRef<int64_t> originB, ArrayRef<int64_t> sizes, llvm::function_ref<void(int64_t, int64_t)> act) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = i, a = 0, b = 0, strideA = 1, strideB = 1;
    for (size_t dim = sizes.size(); dim-- > 0; left /= sizes[dim]) {
      int64_t at = left % sizes[dim];
      a += (originA[dim] + at) * strideA;
      b += (originB[dim] + at) * strideB;
      strideA *= shapeA[dim];
      strideB *= shapeB[dim];
    }
    act(a, b);
  }
}

void copyBox(const HostTensor &from, ArrayRef<int64_t> fromOrigin, HostTensor &to, ArrayRef<int64_t> toOrigin,
             ArrayRef<int64_t> sizes) {
  forEachInBox(from.shape, fromOrigin, to.shape, toOrigin, sizes, [&](int64_t a, int64_t b) { to[b] = from[a]; });
}
} // namespace hocket::dist
