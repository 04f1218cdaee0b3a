// Ops that join, cut, repeat and add along one dimension: concat, part, pad, spread, sum_over. As in MoveRules.cpp a
// row of the domain never crosses the end of a piece, so each row has one address.
#include "dialect/NN/ShapeCheck.h"
#include "passes/Codegen/Graph/Graph.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// A row lies in one operand: its buffer is chosen, and its place found, from where the row begins in y.
void concat(Graph &graph, ConcatOp op) {
  int64_t dim = op.getDim(), all = elementsOf(op.getY(), dim), columns = graph.getShape().columns;
  SmallVector<std::pair<Value, int64_t>> pieces;
  for (Value x : op.getXs())
    pieces.push_back({graph.bufferOf(x), elementsOf(x, dim)});
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns), outer = e.over(flat, all), within = e.modulo(flat, all);
    Value base = pieces[0].first, offset = e.plus(e.times(outer, pieces[0].second), within);
    int64_t begin = 0;
    for (auto [buffer, size] : pieces) {
      Value behind = e.compare(arith::CmpIPredicate::sge, within, e.i64(begin));
      Value at = e.plus(e.times(outer, size), e.plus(within, -begin));
      base = e.choose(behind, buffer, base), offset = e.choose(behind, at, offset);
      begin += size;
    }
    return RowAccess{base, offset, Value()};
  }));
}

void part(Graph &graph, PartOp op) {
  int64_t dim = op.getDim(), taken = elementsOf(op.getY(), dim), all = elementsOf(op.getX(), dim);
  int64_t from = op.getFromAttr().getInt() * elementsOf(op.getX(), dim + 1), columns = graph.getShape().columns;
  Value base = graph.bufferOf(op.getX());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns);
    return RowAccess{base, e.plus(e.plus(e.times(e.over(flat, taken), all), e.modulo(flat, taken)), from), Value()};
  }));
}

/// Rows outside of the piece read nothing: zero.
void pad(Graph &graph, PadOp op) {
  int64_t dim = op.getDim(), piece = elementsOf(op.getX(), dim), all = elementsOf(op.getY(), dim);
  int64_t from = op.getFromAttr().getInt() * elementsOf(op.getY(), dim + 1), columns = graph.getShape().columns;
  Value base = graph.bufferOf(op.getX());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns), within = e.plus(e.modulo(flat, all), -from);
    Value inside = e.compare(arith::CmpIPredicate::ult, within, e.i64(piece));
    Value at = e.plus(e.times(e.over(flat, all), piece), e.choose(inside, within, e.i64(0)));
    return RowAccess{base, at, e.choose(inside, e.i64(columns), e.i64(0))};
  }));
}

void spread(Graph &graph, SpreadOp op) {
  int64_t side = elementsOf(op.getY(), op.getDim() + 1), all = elementsOf(op.getY(), op.getDim());
  int64_t columns = graph.getShape().columns;
  Value base = graph.bufferOf(op.getX());
  graph.define(op.getY(), graph.loadRows(getElementTypeOrSelf(op.getY()), [=](Emit &e, Value row) {
    Value flat = e.times(row, columns);
    return RowAccess{base, e.plus(e.times(e.over(flat, all), side), e.modulo(flat, side)), Value()};
  }));
}

/// Adds the slices in order, whatever lane an element is in.
void sumOver(Graph &graph, SumOverOp op) {
  int64_t side = elementsOf(op.getX(), op.getDim() + 1), count = tensorType(op.getX()).getDimSize(op.getDim());
  int64_t columns = graph.getShape().columns;
  Value base = graph.bufferOf(op.getX());
  Type element = getElementTypeOrSelf(op.getX());
  graph.define(op.getY(), graph.map(Space::Full, {}, Compute([=](Emit &e, const Place &place, ValueRange) {
                                      Value flat = e.times(place.row, columns);
                                      Value first = e.plus(e.times(e.over(flat, side), count * side),
                                                           e.plus(e.modulo(flat, side), place.column));
                                      Value zero = e.number(0, e.vectorOf(scalarType(element)));
                                      return e.loop(e.i64(0), e.i64(count), 1, {zero}, [&](Value k, ValueRange sum) {
                                        Value at = e.plus(first, e.times(k, side));
                                        Value slice = e.loadVector(element, base, at, place.mask);
                                        return SmallVector<Value>{e.add(sum[0], slice)};
                                      });
                                    })));
}
} // namespace

LogicalResult buildJoinRule(Graph &graph, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ConcatOp join) { return concat(graph, join), success(); })
      .Case([&](PartOp join) { return part(graph, join), success(); })
      .Case([&](PadOp join) { return pad(graph, join), success(); })
      .Case([&](SpreadOp join) { return spread(graph, join), success(); })
      .Case([&](SumOverOp join) { return sumOver(graph, join), success(); })
      .Default([](Operation *) { return failure(); });
}
} // namespace hocket::codegen
