// Reductions of rows and columns, and the pieces of cross-entropy.
#include "passes/Codegen/Graph/Graph.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
Type sumType(Value tensor) { return scalarType(getElementTypeOrSelf(tensor)); }
Value equal(Emit &e, Value a, Value b) { return e.compare(arith::CmpIPredicate::eq, a, b); }

/// ids - offset as i64; the offset of a shard is a number that the launch passes.
Value localId(Emit &e, Value id, Value offset) { return offset ? e.minus(e.widen(id), offset) : e.widen(id); }

void pick(Graph &graph, PickOp op) {
  Value base = graph.bufferOf(op.getX()), offset = op.getOffset() ? graph.scalarOf(op.getOffset()) : Value();
  Type element = getElementTypeOrSelf(op.getX());
  int64_t columns = graph.getShape().columns;
  Ref ids = graph.read(op, 1);
  Ref y = graph.map(Space::Row, {ids}, Compute([=](Emit &e, const Place &place, ValueRange v) {
                      Value id = localId(e, v[0], offset);
                      Value inside = e.compare(arith::CmpIPredicate::ult, id, e.i64(columns));
                      Value place0 = e.choose(inside, id, e.i64(0));
                      Value found = e.load(element, base, e.plus(e.times(place.row, columns), place0));
                      return SmallVector<Value>{e.choose(inside, found, e.number(0, found.getType()))};
                    }));
  graph.define(op.getY(), y);
}

void crossEntropyGrad(Graph &graph, CrossEntropyGradOp op) {
  Ref dsum = graph.read(op, 0), logits = graph.read(op, 1), labels = graph.read(op, 2), lse = graph.read(op, 3);
  Value offset = op.getOffset() ? graph.scalarOf(op.getOffset()) : Value();
  Ref target = graph.map(Space::Row, {labels}, [=](Emit &e, ValueRange v) { return localId(e, v[0], offset); });
  Ref counted = graph.map(Space::Row, {labels}, [](Emit &e, ValueRange v) {
    return e.compare(arith::CmpIPredicate::ne, v[0], e.number(-1, v[0].getType()));
  });
  Ref grad = graph.map(
      Space::Full, {dsum, logits, target, lse, counted}, Compute([](Emit &e, const Place &place, ValueRange v) {
        Value probability = e.exp(e.sub(v[1], v[3]));
        // which lane is the label's: far from these columns, none is
        Value lane = e.minus(v[2], place.column);
        Value clamped = e.greatest(e.least(lane, e.i64(e.lanes())), e.i64(-1));
        Value hit = equal(e, e.laneNumbers(), e.createOrFold<arith::TruncIOp>(e.getI32Type(), clamped));
        Type type = probability.getType();
        Value less = e.sub(probability, e.number(1, type));
        Value slope = e.mul(v[0], e.choose(hit, less, probability));
        return SmallVector<Value>{e.choose(v[4], slope, e.number(0, type))};
      }));
  graph.define(op.getDlogits(), grad);
}

void rowSumExp(Graph &graph, RowSumExpOp op) {
  Ref terms = graph.map(Space::Full, {graph.read(op, 0), graph.read(op, 1)},
                        [](Emit &e, ValueRange v) { return e.exp(e.sub(v[0], v[1])); });
  graph.define(op.getY(), graph.reduce(Reduction::Sum, terms, sumType(op.getX())));
}

/// Of two log-sum-exps: their sum's, and the share of either; a row of which neither set has a key has no share.
void attentionMerge(Graph &graph, AttentionMergeOp op) {
  Ref a = graph.read(op, 0), aLse = graph.read(op, 1), b = graph.read(op, 2), bLse = graph.read(op, 3);
  auto row = [&](auto pick) {
    return graph.map(Space::Row, {aLse, bLse}, [=](Emit &e, ValueRange v) {
      Type type = v[0].getType();
      Value max = e.max(v[0], v[1]), zero = e.number(0, type);
      Value none = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, max, e.neutral(Reduction::Max, type));
      Value base = e.choose(none, zero, max), left = e.exp(e.sub(v[0], base)), right = e.exp(e.sub(v[1], base));
      left = e.choose(none, zero, left), right = e.choose(none, zero, right);
      Value sum = e.choose(none, e.number(1, type), e.add(left, right));
      return pick(e, none, max, sum, left, right);
    });
  };
  Ref left = row([](Emit &e, Value, Value, Value sum, Value left, Value) { return e.div(left, sum); });
  Ref right = row([](Emit &e, Value, Value, Value sum, Value, Value right) { return e.div(right, sum); });
  graph.define(op.getY(), graph.map(Space::Full, {a, left, b, right},
                                    [](Emit &e, ValueRange v) { return e.mulAdd(v[0], v[1], e.mul(v[2], v[3])); }));
  graph.define(op.getLse(), row([](Emit &e, Value none, Value max, Value sum, Value, Value) {
                 return e.choose(none, max, e.add(max, math::LogOp::create(e, sum)));
               }));
}

void countTokens(Graph &graph, CountTokensOp op) {
  Type element = sumType(op.getCount());
  Ref ones = graph.map(Space::Full, {graph.read(op, 0)}, [=](Emit &e, ValueRange v) {
    Value counted = e.compare(arith::CmpIPredicate::ne, v[0], e.number(-1, v[0].getType()));
    Type wide = e.vectorOf(element);
    return isa<FloatType>(element) ? Value(arith::UIToFPOp::create(e, wide, counted))
                                   : arith::ExtUIOp::create(e, wide, counted);
  });
  graph.define(op.getCount(), graph.reduce(Reduction::Sum, ones, element));
}
} // namespace

LogicalResult buildRowRule(Graph &graph, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RowMaxOp max) {
        graph.define(max.getY(), graph.reduce(Reduction::Max, graph.read(op, 0), sumType(max.getX())));
        return success();
      })
      .Case([&](SumOp sum) {
        Type element = sumType(sum.getX());
        bool whole = roleOf(op) == Role::Rows;
        graph.define(sum.getY(), whole ? graph.reduce(Reduction::Sum, graph.read(op, 0), element)
                                       : graph.sum(graph.read(op, 0), element));
        return success();
      })
      .Case([&](SquareSumOp sum) {
        Ref squares =
            graph.map(Space::Full, {graph.read(op, 0)}, [](Emit &e, ValueRange v) { return e.mul(v[0], v[0]); });
        graph.define(sum.getY(), graph.reduce(Reduction::Sum, squares, sumType(sum.getX())));
        return success();
      })
      .Case([&](RowSumExpOp sum) { return rowSumExp(graph, sum), success(); })
      .Case([&](AttentionMergeOp merge) { return attentionMerge(graph, merge), success(); })
      .Case([&](PickOp row) { return pick(graph, row), success(); })
      .Case([&](CrossEntropyGradOp grad) { return crossEntropyGrad(graph, grad), success(); })
      .Case([&](CountTokensOp count) { return countTokens(graph, count), success(); })
      .Default([](Operation *) { return failure(); });
}
} // namespace hocket::codegen
