// Dropout: the words of dialect/NN/Random.h, 32 elements at once. The key of a row is found once for it.
#include "dialect/NN/Random.h"
#include "passes/Codegen/Graph/Graph.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// An i32 constant of the shape of `like`.
Value word(Emit &e, uint32_t bits, Value like) {
  Value constant = arith::ConstantOp::create(e, e.getI32IntegerAttr(static_cast<int32_t>(bits)));
  return isa<VectorType>(like.getType()) ? e.repeat(constant) : constant;
}

/// nn::philox2x32 on scalars or vectors of i32; c1 and the key may be scalars beside a vector c0.
Value philox(Emit &e, Value c0, Value c1, Value key) {
  if (isa<VectorType>(c0.getType()))
    c1 = e.repeat(c1);
  Value multiplier = word(e, philoxMultiplier, c0);
  for (int round = 0; round < philoxRounds; ++round) {
    Value step = arith::AddIOp::create(e, key, word(e, static_cast<uint32_t>(round) * philoxKeyStep, key));
    if (isa<VectorType>(c0.getType()))
      step = e.repeat(step);
    auto product = arith::MulUIExtendedOp::create(e, multiplier, c0);
    c0 = arith::XOrIOp::create(e, arith::XOrIOp::create(e, product.getHigh(), step), c1);
    c1 = product.getLow();
  }
  return c0;
}

/// Where rows of the kernel lie in x: a row is a piece of one token's last dimension.
struct RowPlace {
  SmallVector<int64_t> sizes, extents; ///< behind batch and sequence: of the shard, of the whole
  SmallVector<Value> offsets;          ///< null: 0
  int64_t columns, tokenElements = 1;

  RowPlace(Graph &graph, DropoutOp op) : columns(graph.getShape().columns) {
    llvm::append_range(sizes, op.getX().getType().getShape().drop_front(2));
    llvm::append_range(extents, *op.getExtents());
    offsets.resize(sizes.size());
    for (auto [i, dim] : llvm::enumerate(op.getOffsetDims().value_or(ArrayRef<int64_t>())))
      offsets[dim - 2] = graph.scalarOf(op.getOffsets()[i]);
    for (int64_t size : sizes)
      tokenElements *= size;
  }
  Value token(Emit &e, Value row) const { return e.over(e.times(row, columns), tokenElements); }
  /// The global index, among its token's features, of the first element of a row: i32.
  Value feature(Emit &e, Value row) const {
    Value local = e.modulo(e.times(row, columns), tokenElements), index = e.i64(0);
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0; stride *= extents[i]) {
      Value at = i ? e.modulo(local, sizes[i]) : local;
      index = e.plus(index, e.times(offsets[i] ? e.plus(at, offsets[i]) : at, stride));
      local = e.over(local, sizes[i]);
    }
    return arith::TruncIOp::create(e, e.getI32Type(), index);
  }
};
} // namespace

LogicalResult buildDropoutRule(Graph &graph, Operation *op) {
  auto dropout = dyn_cast<DropoutOp>(op);
  if (!dropout)
    return failure();
  Ref x = graph.read(dropout, 0);
  if (!dropout.getDraws()) {
    graph.define(dropout.getY(), x);
    return success();
  }
  RowPlace rows(graph, dropout);
  int64_t sequence = dropout.getX().getType().getDimSize(1);
  Value draws = graph.bufferOf(dropout.getDraws()), positions = graph.bufferOf(dropout.getPositions());
  Value number = dropout.getNumber() ? graph.scalarOf(dropout.getNumber()) : Value();
  uint32_t stream = dropout.getStream() ? streamNumber(*dropout.getStream()) : 0;
  double rate = dropout.getRate().convertToDouble();
  // draw, key, position and first feature of the row
  auto ofRow = [=](Emit &e, const Place &place, ValueRange) {
    Value token = rows.token(e, place.row);
    Value draw = e.load(e.getI32Type(), draws, e.over(token, sequence)), zero = word(e, 0, draw);
    Value streamKey = number ? Value(arith::TruncIOp::create(e, e.getI32Type(), number)) : word(e, stream, draw);
    return SmallVector<Value>{draw, philox(e, draw, zero, streamKey), e.load(e.getI32Type(), positions, token),
                              rows.feature(e, place.row)};
  };
  Ref row = graph.map(Space::Row, {}, Compute(ofRow));
  SmallVector<Ref> operands{x};
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back({row.step, i});
  auto ofElements = [=](Emit &e, const Place &place, ValueRange v) {
    Value column = arith::TruncIOp::create(e, e.getI32Type(), place.column);
    Value feature = arith::AddIOp::create(e, e.repeat(arith::AddIOp::create(e, v[4], column)), e.laneNumbers());
    Value random = philox(e, feature, v[3], v[2]), all = e.repeat(v[0]);
    Value kept = e.compare(arith::CmpIPredicate::ule, random, word(e, keepBound(rate), random));
    Value scaled = e.mul(all, e.number(1 / (1 - rate), all.getType()));
    Value nothing = e.compare(arith::CmpIPredicate::eq, v[1], word(e, 0, v[1]));
    Value dropped = e.choose(kept, scaled, e.number(0, all.getType()));
    return SmallVector<Value>{e.choose(nothing, all, dropped)};
  };
  graph.define(dropout.getY(), graph.map(Space::Full, operands, Compute(ofElements)));
  return success();
}
} // namespace hocket::codegen
