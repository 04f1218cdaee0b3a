// dist collectives as flat ones.
#include "passes/DistToStep/FlatCollectives.h"
#include "dialect/NN/Random.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
/// One op being lowered: where, and with what placement.
struct Lowering {
  OpBuilder &builder;
  Operation *op;
  dist::MeshOp mesh;

  Value collective(CollectiveKind kind, dist::Reduction reduction, Value input, RankedTensorType type,
                   dist::AxesAttr axes, StringRef cause, DenseI64ArrayAttr stages = {}) {
    auto path = op->getAttrOfType<StringAttr>("path");
    auto phase = op->getAttrOfType<nn::PhaseAttr>("phase");
    return CollectiveOp::create(builder, op->getLoc(), TypeRange{type}, kind, reduction, input, ValueRange{}, axes,
                                stages, StringAttr(), builder.getStringAttr(cause), path, phase, ArrayAttr())
        .getResult(0);
  }
  /// [A, n, B] to rank-major pieces [pieces, A, ceil(n/pieces), B].
  Value pack(Value x, int64_t dim, int64_t pieces) {
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = llvm::divideCeil(shape[dim], pieces);
    shape.insert(shape.begin(), pieces);
    return PackOp::create(builder, op->getLoc(), RankedTensorType::get(shape, type.getElementType()), x, dim, pieces);
  }
  RankedTensorType pieceType(Value packed) {
    auto type = cast<RankedTensorType>(packed.getType());
    return RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  }
  /// True if rank-major pieces of `dim` are the tensor as it lies: nothing is before `dim`, and it divides.
  static bool liesInPieces(RankedTensorType type, int64_t dim, int64_t pieces) {
    return type.getDimSize(dim) % pieces == 0 &&
           llvm::all_of(type.getShape().take_front(dim), [](int64_t n) { return n == 1; });
  }
  static RankedTensorType withDim(RankedTensorType type, int64_t dim, int64_t size) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    return RankedTensorType::get(shape, type.getElementType());
  }
  /// The axes one by one, major to minor: exact for uneven dimensions (ceil after ceil).
  SmallVector<dist::AxesAttr> oneByOne(dist::AxesAttr axes) {
    SmallVector<dist::AxesAttr> list;
    for (const dist::AxisRef &ref : axes.getRefs())
      if (dist::axisSize(mesh, ref) > 1)
        list.push_back(dist::AxesAttr::get(builder.getContext(), {ref}));
    return list;
  }
  /// All axes at once where every one divides what is left, else one by one.
  SmallVector<dist::AxesAttr> pieces(dist::AxesAttr axes, int64_t size) {
    int64_t count = dist::axesSize(mesh, axes.getRefs());
    return count == 1          ? SmallVector<dist::AxesAttr>{}
           : size % count == 0 ? SmallVector<dist::AxesAttr>{axes}
                               : oneByOne(axes);
  }

  Value reduceScatter(dist::ReduceScatterOp scatter, Value x) {
    int64_t dim = scatter.getDim();
    int64_t size = cast<RankedTensorType>(x.getType()).getDimSize(dim);
    for (dist::AxesAttr axes : pieces(scatter.getAxes(), size)) {
      int64_t count = dist::axesSize(mesh, axes.getRefs());
      auto type = cast<RankedTensorType>(x.getType());
      if (liesInPieces(type, dim, count)) {
        x = collective(CollectiveKind::ReduceScatter, scatter.getReduction(), x,
                       withDim(type, dim, type.getDimSize(dim) / count), axes, scatter.getCause());
        continue;
      }
      Value packed = pack(x, dim, count);
      x = collective(CollectiveKind::ReduceScatter, scatter.getReduction(), packed, pieceType(packed), axes,
                     scatter.getCause());
    }
    return x;
  }
  Value allGather(dist::AllGatherOp gather, Value x) {
    int64_t dim = gather.getDim();
    int64_t size = gather.getY().getType().getDimSize(dim);
    auto list = pieces(gather.getAxes(), size);
    // Sizes before each axis cut them, major to minor; the minor axis is gathered first.
    SmallVector<int64_t> sizes{size};
    for (dist::AxesAttr axes : list)
      sizes.push_back(llvm::divideCeil(sizes.back(), dist::axesSize(mesh, axes.getRefs())));
    for (auto [axes, whole] : llvm::reverse(llvm::zip_equal(list, ArrayRef(sizes).drop_back()))) {
      auto type = cast<RankedTensorType>(x.getType());
      int64_t count = dist::axesSize(mesh, axes.getRefs());
      if (auto y = withDim(type, dim, whole); liesInPieces(y, dim, count)) {
        x = collective(CollectiveKind::AllGather, dist::Reduction::Sum, x, y, axes, gather.getCause());
        continue;
      }
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), count);
      Value gathered = collective(CollectiveKind::AllGather, dist::Reduction::Sum, x,
                                  RankedTensorType::get(shape, type.getElementType()), axes, gather.getCause());
      shape.erase(shape.begin());
      shape[dim] = whole;
      x = UnpackOp::create(builder, op->getLoc(), RankedTensorType::get(shape, type.getElementType()), gathered, dim);
    }
    return x;
  }
  Value allToAll(dist::AllToAllOp exchange, Value x) {
    if (dist::axesSize(mesh, exchange.getAxes().getRefs()) == 1)
      return x;
    Value packed = pack(x, exchange.getSplitDim(), dist::axesSize(mesh, exchange.getAxes().getRefs()));
    Value moved = collective(CollectiveKind::AllToAll, dist::Reduction::Sum, packed,
                             cast<RankedTensorType>(packed.getType()), exchange.getAxes(), exchange.getCause());
    return UnpackOp::create(builder, op->getLoc(), exchange.getY().getType(), moved, exchange.getGatherDim());
  }
  /// Several scalars go as one vector; other tensors one by one.
  SmallVector<Value> allReduce(dist::AllReduceOp reduce, ValueRange xs) {
    auto one = [&](Value x) {
      return collective(CollectiveKind::AllReduce, reduce.getReduction(), x, cast<RankedTensorType>(x.getType()),
                        reduce.getAxes(), reduce.getCause(), reduce.getStagesAttr());
    };
    auto scalar = [&](Value x) {
      return cast<RankedTensorType>(x.getType()).getRank() == 0 && x.getType() == xs[0].getType();
    };
    if (dist::axesSize(mesh, reduce.getAxes().getRefs()) == 1)
      return llvm::to_vector(xs);
    if (xs.size() == 1 || !llvm::all_of(xs, scalar))
      return llvm::map_to_vector(xs, one);
    auto element = cast<RankedTensorType>(xs[0].getType()).getElementType();
    auto vector = RankedTensorType::get(static_cast<int64_t>(xs.size()), element);
    Value stacked = nn::make<nn::StackOp>(builder, op->getLoc(), vector, xs, uint64_t(0));
    auto unstacked = nn::make<nn::UnstackOp>(builder, op->getLoc(), TypeRange(xs), one(stacked), uint64_t(0));
    for (Operation *made : {stacked.getDefiningOp(), unstacked.getOperation()})
      nn::setPath(made, nn::getPath(op));
    return llvm::to_vector<4>(llvm::map_range(unstacked.getResults(), [](OpResult r) { return Value(r); }));
  }
};
} // namespace

static bool lower(OpBuilder &builder, Operation *op, IRMapping &map, dist::MeshOp mesh) {
  Lowering lower{builder, op, mesh};
  auto in = [&](Value value) { return map.lookup(value); };
  auto i64 = [&](RankScalarKind kind, int64_t size, dist::AxesAttr axes, IntegerAttr behind = {}) -> Value {
    return RankScalarOp::create(builder, op->getLoc(), builder.getI64Type(), kind, size, axes, behind);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](dist::AllReduceOp reduce) {
        SmallVector<Value> xs = llvm::map_to_vector(reduce.getXs(), in);
        map.map(reduce.getYs(), lower.allReduce(reduce, xs));
        return true;
      })
      .Case([&](dist::ReduceScatterOp scatter) {
        map.map(scatter.getY(), lower.reduceScatter(scatter, in(scatter.getX())));
        return true;
      })
      .Case([&](dist::AllGatherOp gather) {
        map.map(gather.getY(), lower.allGather(gather, in(gather.getX())));
        return true;
      })
      .Case([&](dist::AllToAllOp exchange) {
        map.map(exchange.getY(), lower.allToAll(exchange, in(exchange.getX())));
        return true;
      })
      .Case([&](dist::ShiftOp shift) {
        Value x = in(shift.getX());
        bool alone = dist::axesSize(mesh, shift.getAxes().getRefs()) == 1;
        map.map(shift.getY(), alone ? x
                                    : lower.collective(CollectiveKind::Shift, dist::Reduction::Sum, x,
                                                       shift.getY().getType(), shift.getAxes(), shift.getCause()));
        return true;
      })
      .Case([&](dist::SliceOp slice) {
        int64_t size = slice.getX().getType().getDimSize(slice.getDim());
        Value offset = i64(RankScalarKind::Offset, size, slice.getAxes());
        map.map(slice.getY(),
                SliceOp::create(builder, op->getLoc(), slice.getY().getType(), in(slice.getX()), offset, slice.getDim())
                    .getY());
        return true;
      })
      .Case([&](dist::MaskOp mask) {
        Value extent = i64(RankScalarKind::Extent, mask.getSize(), mask.getAxes());
        map.map(mask.getY(), MaskOp::create(builder, op->getLoc(), mask.getY().getType(), in(mask.getX()), extent,
                                            mask.getDim(), mask.getValue())
                                 .getY());
        return true;
      })
      .Case([&](dist::OffsetOp offset) {
        map.map(offset.getY(), i64(RankScalarKind::Offset, offset.getSize(), offset.getAxes(), offset.getBehindAttr()));
        return true;
      })
      .Case([&](nn::DropoutOp dropout) {
        auto clone = cast<nn::DropoutOp>(builder.clone(*dropout, map));
        if (std::optional<StringRef> stream = dropout.getStream()) {
          Value number =
              i64(RankScalarKind::Number, nn::streamNumber(*stream), dist::AxesAttr::get(builder.getContext(), {}));
          number.getDefiningOp()->moveBefore(clone);
          clone.getNumberMutable().assign(number);
          clone.removeStreamAttr();
        }
        return true;
      })
      .Default(false);
}

bool hocket::step::lowerDistOp(OpBuilder &builder, Operation *op, IRMapping &map, dist::MeshOp mesh) {
  if (!lower(builder, op, map, mesh))
    return false;
  for (OpResult result : op->getResults()) // what a flat collective makes in the result's own layout is its shard
    if (auto flat = map.lookup(result).getDefiningOp<CollectiveOp>();
        flat && flat.getResult(0).getType() == result.getType())
      nn::setShardings(flat, nn::getSharding(result));
  return true;
}

Value hocket::step::emitAllReduce(OpBuilder &builder, Location loc, Value input, dist::Reduction reduction,
                                  dist::AxesAttr axes, ArrayRef<int64_t> stages, StringRef cause, StringRef path,
                                  nn::PhaseAttr phase) {
  DenseI64ArrayAttr coordinates = stages.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(stages);
  return CollectiveOp::create(builder, loc, TypeRange{input.getType()}, CollectiveKind::AllReduce, reduction, input,
                              ValueRange{}, axes, coordinates, StringAttr(), builder.getStringAttr(cause),
                              path.empty() ? StringAttr() : builder.getStringAttr(path), phase, ArrayAttr())
      .getResult(0);
}

Value hocket::step::emitZeros(OpBuilder &builder, Location loc, RankedTensorType type, StringRef path) {
  auto zeros = nn::make<nn::ElementwiseOp>(builder, loc, TypeRange{type}, ValueRange{}, builder.getStringAttr("zeros"));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&zeros.getBody());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(nn::scalarType(type.getElementType())));
  nn::ReturnOp::create(builder, loc, zero);
  nn::setPath(zeros, path);
  return zeros.getResult(0);
}
