// See RingAttention.h.
#include "passes/Dist/RingAttention.h"
#include "mlir/IR/Builders.h"
using namespace mlir;

namespace hocket::dist {
namespace {

/// What goes around: keys, values, where they stand, and of which documents they are.
struct Block {
  Value k, v, positions, documents; ///< documents: null if there are none
};

class Ring {
public:
  Ring(Operation *attention, MeshOp mesh, AxesAttr axes, StringRef cause)
      : op(attention), builder(attention), axes(axes), cause(builder.getStringAttr(cause)),
        size(axesSize(mesh, axes.getRefs())) {}

  SmallVector<Value> forward(nn::AttentionOp attention) {
    Block block{attention.getK(), attention.getV(), attention.getKPositions(), documentsOf(attention.getDocuments())};
    SmallVector<Value> sum;
    for (int64_t i = 0; i < size; ++i) {
      Block next = i + 1 < size ? before(block, i + 1) : Block(); // sent while this one is worked on
      SmallVector<Value> part = over(attention, block);
      sum = i == 0 ? part : merge(attention, sum, part, i + 1 == size);
      block = next;
    }
    return SmallVector<Value>(ArrayRef(sum).take_front(op->getNumResults()));
  }

  SmallVector<Value> backward(nn::AttentionGradOp grad) {
    Block block{grad.getK(), grad.getV(), grad.getKPositions(), documentsOf(grad.getDocuments())};
    Value dq, ownKeys, ownValues, dk, dv;
    for (int64_t i = 0; i < size; ++i) {
      Block next = i + 1 < size ? before(block, i + 1) : Block();
      if (i > 1) // gradients of the block that the rank before has worked on
        dk = shift(dk), dv = shift(dv);
      SmallVector<Value> part = over(grad, block);
      dq = plus(dq, part[0]);
      if (i == 0) {
        ownKeys = part[1], ownValues = part[2];
      } else {
        dk = plus(dk, part[1]), dv = plus(dv, part[2]);
      }
      block = next;
    }
    return {dq, plus(ownKeys, shift(dk)), plus(ownValues, shift(dv))};
  }

private:
  static Value documentsOf(ValueRange documents) { return documents.empty() ? Value() : documents[1]; }
  static Attribute shardOf(Value value) { return nn::getSharding(cast<OpResult>(value)); }

  void place(Operation *made, ArrayRef<Attribute> shards) {
    for (StringRef name : {"path", "phase"})
      if (Attribute attribute = op->getAttr(name))
        made->setAttr(name, attribute);
    nn::setShardings(made, shards);
  }
  Value shift(Value x) {
    auto made = nn::make<ShiftOp>(builder, op->getLoc(), x.getType(), x, axes, cause);
    place(made, shardOf(x));
    return made.getY();
  }
  Value plus(Value sum, Value part) {
    if (!sum)
      return part;
    auto made = nn::make<nn::AddOp>(builder, op->getLoc(), sum.getType(), sum, part);
    place(made, shardOf(sum));
    return made.getY();
  }

  /// The block of the rank one place further back: the one `places` before this rank. Positions that ranks can find
  /// themselves are not sent.
  Block before(const Block &block, int64_t places) {
    Block next{shift(block.k), shift(block.v), {}, block.documents ? shift(block.documents) : Value()};
    auto positions = block.positions.getDefiningOp<nn::PositionsOp>();
    auto offset = positions && positions.getOffset() ? positions.getOffset().getDefiningOp<OffsetOp>() : OffsetOp();
    if (!offset || offset.getAxes() != axes) {
      next.positions = shift(block.positions);
      return next;
    }
    auto there = OffsetOp::create(builder, op->getLoc(), builder.getI64Type(), offset.getSizeAttr(), axes,
                                  builder.getI64IntegerAttr(places));
    auto again = cast<nn::PositionsOp>(builder.clone(*positions));
    again.getOffsetMutable().assign(there);
    place(again, shardOf(block.positions));
    next.positions = again.getY();
    return next;
  }

  /// The op over one block. Results that will be merged are not rounded.
  template <typename OpT> SmallVector<Value> over(OpT attention, const Block &block) {
    Operation *made = builder.clone(*attention);
    auto part = cast<OpT>(made);
    part.getKMutable().assign(block.k);
    part.getVMutable().assign(block.v);
    part.getKPositionsMutable().assign(block.positions);
    if (block.documents)
      part.getDocumentsMutable().slice(1, 1).assign(block.documents);
    if (auto forward = dyn_cast<nn::AttentionOp>(made); forward && size > 1)
      return widened(forward);
    return SmallVector<Value>(made->getResults());
  }
  SmallVector<Value> widened(nn::AttentionOp part) {
    auto y = part.getY().getType();
    Type f32 = builder.getF32Type();
    auto lse = RankedTensorType::get(y.getShape().drop_back(), f32);
    Attribute shard = shardOf(part.getY());
    auto made = nn::AttentionOp::create(builder, part.getLoc(), RankedTensorType::get(y.getShape(), f32), lse,
                                        part.getQ(), part.getK(), part.getV(), part.getQPositions(),
                                        part.getKPositions(), part.getDocuments(), part.getMaskAttr(),
                                        part.getScaleAttr(), part.getWindowAttr(), part.getSoftcapAttr(),
                                        part.getRingAttr(), part.getPathAttr(), part.getPhaseAttr(), ArrayAttr());
    place(made, {ofElement(shard, f32), rowsOf(shard, f32)});
    part.erase();
    return SmallVector<Value>(made.getResults());
  }
  static ShardAttr ofElement(Attribute shard, Type element) {
    auto of = cast<ShardAttr>(shard);
    return ShardAttr::get(of.getContext(), RankedTensorType::get(of.getGlobal().getShape(), element), of.getSharding());
  }
  /// A shard of one number a row, from that of the rows.
  static ShardAttr rowsOf(Attribute shard, Type element) {
    auto of = cast<ShardAttr>(shard);
    ShardingAttr all = of.getSharding();
    auto rows = ShardingAttr::get(of.getContext(), all.getMesh(), all.getDims().drop_back(), all.getPartial(),
                                  all.getReduction());
    return ShardAttr::get(of.getContext(), RankedTensorType::get(of.getGlobal().getShape().drop_back(), element), rows);
  }

  SmallVector<Value> merge(nn::AttentionOp attention, ArrayRef<Value> sum, ArrayRef<Value> part, bool last) {
    auto type = last ? attention.getY().getType() : cast<RankedTensorType>(sum[0].getType());
    auto made =
        nn::make<nn::AttentionMergeOp>(builder, op->getLoc(), type, sum[1].getType(), sum[0], sum[1], part[0], part[1]);
    place(made, {last ? shardOf(attention.getY()) : shardOf(sum[0]), shardOf(sum[1])});
    return {made.getY(), made.getLse()};
  }

  Operation *op;
  OpBuilder builder;
  AxesAttr axes;
  StringAttr cause;
  int64_t size;
};
} // namespace

SmallVector<Value> emitRing(Operation *attention, MeshOp mesh, AxesAttr axes, StringRef cause) {
  Ring ring(attention, mesh, axes, cause);
  auto forward = dyn_cast<nn::AttentionOp>(attention);
  SmallVector<Value> results = forward ? ring.forward(forward) : ring.backward(cast<nn::AttentionGradOp>(attention));
  attention->erase();
  return results;
}
} // namespace hocket::dist
