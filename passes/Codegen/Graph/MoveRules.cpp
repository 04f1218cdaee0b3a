// Ops that read or write rows elsewhere: slices, stacks, pieces, rows of a table; and masks and positions.
//
// [A, n, B] moved along its dimension n: element r of the flat domain belongs to outer index r / (n B); a row of the
// domain never crosses the end of a piece (kernelShape sees to that), so each row has one address.
#include "dialect/NN/ShapeCheck.h"
#include "passes/Codegen/Graph/Graph.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
void unstack(Graph &graph, UnstackOp op) {
  int64_t side = elementsOf(op.getX(), op.getDim() + 1), count = tensorType(op.getX()).getDimSize(op.getDim());
  int64_t columns = graph.getShape().columns;
  Value base = graph.bufferOf(op.getX());
  for (OpResult y : op.getYs()) {
    int64_t k = y.getResultNumber();
    graph.define(y, graph.loadRows(getElementTypeOrSelf(y), [=](Emit &e, Value row) {
      Value flat = e.times(row, columns);
      Value piece = e.plus(e.times(e.over(flat, side), count), k);
      return RowAccess{base, e.plus(e.times(piece, side), e.modulo(flat, side)), Value()};
    }));
  }
}

void stack(Graph &graph, StackOp op) {
  int64_t side = elementsOf(op.getXs().front(), op.getDim()), count = op.getXs().size();
  int64_t columns = graph.getShape().columns;
  for (Value base : graph.resultBuffers(op.getY()))
    for (unsigned k = 0; k < op.getXs().size(); ++k)
      graph.output(graph.read(op, k), getElementTypeOrSelf(op.getY()), Space::Full, base, [=](Emit &e, Value row) {
        Value flat = e.times(row, columns);
        Value piece = e.plus(e.times(e.over(flat, side), count), k);
        return RowAccess{base, e.plus(e.times(piece, side), e.modulo(flat, side)), Value()};
      });
}

void slice(Graph &graph, step::SliceOp op) {
  int64_t dim = op.getDim(), columns = graph.getShape().columns;
  int64_t taken = elementsOf(op.getY(), dim), all = elementsOf(op.getX(), dim), side = elementsOf(op.getX(), dim + 1);
  Value base = graph.bufferOf(op.getX()), offset = graph.scalarOf(op.getOffset());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns);
    Value within = e.plus(e.times(offset, side), e.modulo(flat, taken));
    return RowAccess{base, e.plus(e.times(e.over(flat, taken), all), within), e.minus(e.i64(all), within)};
  }));
}

void pack(Graph &graph, step::PackOp op) {
  int64_t dim = op.getDim(), columns = graph.getShape().columns;
  int64_t piece = elementsOf(op.getY(), dim + 1), all = elementsOf(op.getX(), dim);
  int64_t outer = elementsOf(op.getX()) / all;
  Value base = graph.bufferOf(op.getX());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns), index = e.over(flat, piece);
    Value within = e.plus(e.times(e.over(index, outer), piece), e.modulo(flat, piece));
    return RowAccess{base, e.plus(e.times(e.modulo(index, outer), all), within), e.minus(e.i64(all), within)};
  }));
}

/// A row of the domain is one piece; what lies beyond the end is not written.
void unpack(Graph &graph, step::UnpackOp op) {
  int64_t dim = op.getDim(), piece = graph.getShape().columns, all = elementsOf(op.getY(), dim);
  int64_t outer = elementsOf(op.getY()) / all;
  Value from = graph.bufferOf(op.getX());
  Ref x = graph.loadRows(getElementTypeOrSelf(op.getX()),
                         [=](Emit &e, Value row) { return RowAccess{from, e.times(row, piece), Value()}; });
  for (Value base : graph.resultBuffers(op.getY()))
    graph.output(x, getElementTypeOrSelf(op.getY()), Space::Full, base, [=](Emit &e, Value row) {
      Value within = e.times(e.over(row, outer), piece);
      return RowAccess{base, e.plus(e.times(e.modulo(row, outer), all), within), e.minus(e.i64(all), within)};
    });
}

/// Where element `flat` of what lies in elements first … of each piece of a bucket is.
struct InBucket {
  int64_t own, all, first; ///< elements a piece, of the tensor and of the bucket
  InBucket(Value inside, Value bucket, int64_t pieces, int64_t first)
      : own(elementsOf(inside) / pieces), all(elementsOf(bucket) / pieces), first(first) {}
  Value at(Emit &e, Value flat) const {
    return e.plus(e.times(e.over(flat, own), all), e.plus(e.modulo(flat, own), first));
  }
};

/// The rest of the bucket stays as it is: the result lies on it.
void place(Graph &graph, step::PlaceOp op) {
  int64_t columns = graph.getShape().columns;
  InBucket bucket(op.getX(), op.getY(), op.getPieces(), op.getFirst());
  for (Value base : graph.resultBuffers(op.getY()))
    graph.output(graph.read(op, 0), getElementTypeOrSelf(op.getY()), Space::Full, base,
                 [=](Emit &e, Value row) { return RowAccess{base, bucket.at(e, e.times(row, columns)), Value()}; });
}

void part(Graph &graph, step::PartOp op) {
  int64_t columns = graph.getShape().columns;
  InBucket bucket(op.getY(), op.getBucket(), op.getPieces(), op.getFirst());
  Value base = graph.bufferOf(op.getBucket());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    return RowAccess{base, bucket.at(e, e.times(row, columns)), Value()};
  }));
}

void mask(Graph &graph, step::MaskOp op) {
  int64_t dim = op.getDim(), columns = graph.getShape().columns;
  int64_t all = elementsOf(op.getX(), dim), side = elementsOf(op.getX(), dim + 1);
  Value extent = graph.scalarOf(op.getExtent());
  double value = op.getValue().convertToDouble();
  graph.define(op.getY(),
               graph.map(Space::Full, {graph.read(op, 0)}, Compute([=](Emit &e, const Place &place, ValueRange v) {
                           Value start = e.modulo(e.times(place.row, columns), all);
                           Value left = e.minus(e.minus(e.times(extent, side), start), place.column);
                           Value wide = e.repeat(v[0]);
                           Value masked = e.number(value, wide.getType());
                           return SmallVector<Value>{e.choose(e.lanesBelow(left), wide, masked)};
                         })));
}

void embedding(Graph &graph, EmbeddingOp op) {
  int64_t width = tensorType(op.getTable()).getShape().back(), columns = graph.getShape().columns;
  int64_t rows = elementsOf(op.getTable()) / width;
  Value ids = graph.bufferOf(op.getIds()), table = graph.bufferOf(op.getTable());
  Value offset = op.getOffset() ? graph.scalarOf(op.getOffset()) : Value();
  Type idType = getElementTypeOrSelf(op.getIds());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getTable()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns);
    Value id = e.widen(e.load(idType, ids, e.over(flat, width)));
    if (offset)
      id = e.minus(id, offset);
    Value inside = e.compare(arith::CmpIPredicate::ult, id, e.i64(rows));
    Value at = e.plus(e.times(e.choose(inside, id, e.i64(0)), width), e.modulo(flat, width));
    return RowAccess{table, at, e.choose(inside, e.i64(columns), e.i64(0))};
  }));
}

/// The token at a place of a sequence in zigzag order (zigzagToken in dialect/NN/NN.h), for one place or a vector of
/// them.
Value zigzag(Emit &e, Value place, PositionsOp op) {
  Type type = place.getType(), element = getElementTypeOrSelf(type);
  int64_t ranks = static_cast<int64_t>(*op.getZigzag()), length = static_cast<int64_t>(*op.getSequence()) / (2 * ranks);
  auto number = [&](int64_t value) -> Value {
    TypedAttr attribute = IntegerAttr::get(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, attribute);
    return arith::ConstantOp::create(e, attribute);
  };
  auto apply = [&]<typename OpT>(Value a, Value b) -> Value { return OpT::create(e, a, b); };
  Value chunk = apply.operator()<arith::DivSIOp>(place, number(length));
  Value inside = apply.operator()<arith::RemSIOp>(place, number(length));
  Value rank = apply.operator()<arith::DivSIOp>(chunk, number(2));
  Value late = apply.operator()<arith::RemSIOp>(chunk, number(2)); // 0: early, 1: late
  // early: rank; late: 2 ranks - 1 - rank; so rank + late * (2 ranks - 1 - 2 rank)
  Value span = apply.operator()<arith::SubIOp>(number(2 * ranks - 1), apply.operator()<arith::MulIOp>(rank, number(2)));
  Value token = apply.operator()<arith::AddIOp>(rank, apply.operator()<arith::MulIOp>(late, span));
  return apply.operator()<arith::AddIOp>(apply.operator()<arith::MulIOp>(token, number(length)), inside);
}

void positions(Graph &graph, PositionsOp op) {
  int64_t length = tensorType(op.getY()).getShape().back(), columns = graph.getShape().columns;
  Type element = getElementTypeOrSelf(op.getY());
  Value offset = op.getOffset() ? graph.scalarOf(op.getOffset()) : Value();
  Space space = graph.getShape().spaces.lookup(op.getY());
  graph.define(op.getY(), graph.map(space, {}, Compute([=](Emit &e, const Place &place, ValueRange) mutable {
                                      Value first = e.modulo(e.times(place.row, columns), length);
                                      if (offset)
                                        first = e.plus(first, offset);
                                      if (place.column)
                                        first = e.plus(first, place.column);
                                      Value narrow =
                                          element.isInteger(64) ? first : arith::TruncIOp::create(e, element, first);
                                      Value at = place.column ? e.add(e.laneNumbers(), narrow) : narrow;
                                      return SmallVector<Value>{op.getZigzag() ? zigzag(e, at, op) : at};
                                    })));
}
} // namespace

LogicalResult buildMoveRule(Graph &graph, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](UnstackOp move) { return unstack(graph, move), success(); })
      .Case([&](StackOp move) { return stack(graph, move), success(); })
      .Case([&](step::SliceOp move) { return slice(graph, move), success(); })
      .Case([&](step::PackOp move) { return pack(graph, move), success(); })
      .Case([&](step::UnpackOp move) { return unpack(graph, move), success(); })
      .Case([&](step::PlaceOp move) { return place(graph, move), success(); })
      .Case([&](step::PartOp move) { return part(graph, move), success(); })
      .Case([&](step::MaskOp move) { return mask(graph, move), success(); })
      .Case([&](EmbeddingOp move) { return embedding(graph, move), success(); })
      .Case([&](PositionsOp move) { return positions(graph, move), success(); })
      .Default([](Operation *) { return failure(); });
}
} // namespace hocket::codegen
