// Whole tensors cut into the shards of slots, and put together again.
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Dist/RankGroups.h"
#include <cstring>
#include <limits>
#include <map>
using namespace mlir;

namespace hocket::dist {
using interpreter::PerRank;
using interpreter::RankGrid;
using nn::HostTensor;

namespace {
ShardAttr shardOf(nn::SlotOp slot) { return dyn_cast_or_null<ShardAttr>(slot.getShardingAttr()); }

/// A rank's box of the whole tensor.
struct Box {
  SmallVector<int64_t> origin, sizes, localShape;
};
Box boxOf(const RankGrid &grid, int64_t rank, ShardAttr shard) {
  Box box;
  for (auto [n, dim] : llvm::zip(shard.getGlobal().getShape(), shard.getSharding().getDims())) {
    Piece piece = pieceOf(grid, rank, n, dim.axes);
    box.origin.push_back(piece.begin);
    box.sizes.push_back(piece.end - piece.begin);
    box.localShape.push_back(piece.size);
  }
  return box;
}

/// The places along the partial axes: all zero on the rank that holds the whole at the start.
SmallVector<int64_t> partialPlaces(const RankGrid &grid, int64_t rank, ShardAttr shard) {
  SmallVector<int64_t> places;
  for (const AxisRef &ref : shard.getSharding().getPartial())
    places.push_back(placeOn(grid, rank, ref));
  return places;
}

PerRank scatter(const RankGrid &grid, nn::SlotOp slot, const HostTensor &whole) {
  ShardAttr shard = shardOf(slot);
  if (!shard)
    return PerRank(grid.ranks(), whole);
  PerRank pieces;
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    Box box = boxOf(grid, rank, shard);
    bool holds = llvm::all_of(partialPlaces(grid, rank, shard), [](int64_t place) { return place == 0; });
    HostTensor piece(box.localShape, std::numeric_limits<double>::quiet_NaN());
    SmallVector<int64_t> head(box.origin.size(), 0);
    copyBox(holds ? whole : HostTensor(whole.shape), box.origin, piece, head, box.sizes);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// `at`: the op to blame, that of a slot or of a value.
FailureOr<HostTensor> gather(const RankGrid &grid, Operation *at, ShardAttr shard, const PerRank &pieces) {
  if (!shard)
    return pieces.front();
  // One tensor for each place along the partial axes; they are added in the end.
  struct Part {
    HostTensor tensor;
    std::vector<bool> known;
  };
  std::map<std::vector<int64_t>, Part> parts;
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    SmallVector<int64_t> places = partialPlaces(grid, rank, shard);
    Part &part = parts[{places.begin(), places.end()}];
    if (part.known.empty()) {
      part.tensor = HostTensor(shard.getGlobal().getShape());
      part.known.assign(part.tensor.size(), false);
    }
    Box box = boxOf(grid, rank, shard);
    SmallVector<int64_t> head(box.origin.size(), 0);
    bool agrees = true;
    forEachInBox(pieces[rank].shape, head, part.tensor.shape, box.origin, box.sizes, [&](int64_t from, int64_t to) {
      double value = pieces[rank][from];
      agrees &= !part.known[to] || std::memcmp(&part.tensor[to], &value, sizeof value) == 0;
      part.tensor[to] = value;
      part.known[to] = true;
    });
    if (!agrees)
      return at->emitOpError() << "differs on rank " << rank << " from what other ranks hold of the same elements";
  }
  HostTensor whole(shard.getGlobal().getShape());
  for (auto &[places, part] : parts)
    for (int64_t i = 0; i < whole.size(); ++i) {
      if (!part.known[i])
        return at->emitOpError() << "has no rank that holds element " << i;
      whole[i] += part.tensor[i];
    }
  return whole;
}
} // namespace

interpreter::SlotLayout slotLayoutOf(const RankGrid &grid) {
  interpreter::SlotLayout layout;
  layout.globalType = [](nn::SlotOp slot) {
    ShardAttr shard = shardOf(slot);
    return shard ? shard.getGlobal() : cast<RankedTensorType>(slot.getType());
  };
  layout.scatter = [grid](nn::SlotOp slot, const HostTensor &whole) { return scatter(grid, slot, whole); };
  layout.gather = [grid](nn::SlotOp slot, const PerRank &pieces) { return gather(grid, slot, shardOf(slot), pieces); };
  layout.gatherValue = [grid](OpResult value, const PerRank &pieces) {
    return gather(grid, value.getOwner(), dyn_cast_or_null<ShardAttr>(nn::getSharding(value)), pieces);
  };
  return layout;
}
} // namespace hocket::dist
