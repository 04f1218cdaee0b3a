// Norms over a row and their gradients. The variance is that of the deviations (two loops over the row), so that it
// stays accurate where the mean is large.
#include "passes/Codegen/Graph/Graph.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// Per row: the mean (null for rms) and one over the deviation.
struct Statistics {
  Ref mean, inverse;
};
Ref deviation(Graph &graph, Ref x, Ref mean) {
  return mean.step ? graph.map(Space::Full, {x, mean}, [](Emit &e, ValueRange v) { return e.sub(v[0], v[1]); }) : x;
}
Ref scaleRow(Graph &graph, Ref row, double factor) {
  return graph.map(Space::Row, {row},
                   [=](Emit &e, ValueRange v) { return e.mul(v[0], e.number(factor, v[0].getType())); });
}

Statistics statistics(Graph &graph, Ref x, Type element, double eps, bool centered) {
  double each = 1.0 / static_cast<double>(graph.getShape().columns);
  Statistics found;
  if (centered)
    found.mean = scaleRow(graph, graph.reduce(Reduction::Sum, x, element), each);
  Ref square = graph.map(Space::Full, {deviation(graph, x, found.mean)},
                         [](Emit &e, ValueRange v) { return e.mul(v[0], v[0]); });
  found.inverse = graph.map(Space::Row, {graph.reduce(Reduction::Sum, square, element)}, [=](Emit &e, ValueRange v) {
    Type type = v[0].getType();
    Value variance = e.mulAdd(v[0], e.number(each, type), e.number(eps, type));
    return e.div(e.number(1, type), math::SqrtOp::create(e, variance));
  });
  return found;
}
Type sumType(Value tensor) { return scalarType(cast<RankedTensorType>(tensor.getType()).getElementType()); }

Ref normalised(Graph &graph, Ref x, const Statistics &row) {
  if (!row.mean.step)
    return graph.map(Space::Full, {x, row.inverse}, [](Emit &e, ValueRange v) { return e.mul(v[0], v[1]); });
  return graph.map(Space::Full, {x, row.mean, row.inverse},
                   [](Emit &e, ValueRange v) { return e.mul(e.sub(v[0], v[1]), v[2]); });
}

void normalise(Graph &graph, Operation *op, double eps, bool centered) {
  Ref x = graph.read(op, 0), gain = graph.read(op, 1);
  Statistics row = statistics(graph, x, sumType(op->getOperand(0)), eps, centered);
  Ref n = normalised(graph, x, row);
  Ref y = centered ? graph.map(Space::Full, {n, gain, graph.read(op, 2)},
                               [](Emit &e, ValueRange v) { return e.mulAdd(v[0], v[1], v[2]); })
                   : graph.map(Space::Full, {n, gain}, [](Emit &e, ValueRange v) { return e.mul(v[0], v[1]); });
  graph.define(op->getResult(0), y);
}

/// With n the normalised row and g = dy gain: dx = inverse (g - mean(g) - n mean(g n)); rms has no mean(g).
void inputGradient(Graph &graph, Operation *op, double eps, bool centered) {
  Ref dy = graph.read(op, 0), x = graph.read(op, 1), gain = graph.read(op, 2);
  Type element = sumType(op->getOperand(1));
  double each = 1.0 / static_cast<double>(graph.getShape().columns);
  Statistics row = statistics(graph, x, element, eps, centered);
  Ref g = graph.cheap(graph.map(Space::Full, {dy, gain}, [](Emit &e, ValueRange v) { return e.mul(v[0], v[1]); }));
  Ref gd = graph.map(Space::Full, {g, deviation(graph, x, row.mean)},
                     [](Emit &e, ValueRange v) { return e.mul(v[0], v[1]); });
  Ref product =
      graph.map(Space::Row, {graph.reduce(Reduction::Sum, gd, element), row.inverse}, [=](Emit &e, ValueRange v) {
        return e.mul(e.mul(v[0], v[1]), e.number(each, v[0].getType())); // mean(g n)
      });
  Ref n = normalised(graph, x, row);
  Ref dx;
  if (centered) {
    Ref mean = scaleRow(graph, graph.reduce(Reduction::Sum, g, element), each);
    dx = graph.map(Space::Full, {g, mean, n, product, row.inverse},
                   [](Emit &e, ValueRange v) { return e.mul(v[4], e.sub(e.sub(v[0], v[1]), e.mul(v[2], v[3]))); });
  } else {
    dx = graph.map(Space::Full, {g, n, product, row.inverse},
                   [](Emit &e, ValueRange v) { return e.mul(v[3], e.sub(v[0], e.mul(v[1], v[2]))); });
  }
  graph.define(op->getResult(0), dx);
}

void parameterGradient(Graph &graph, Operation *op, double eps, bool centered) {
  Ref dy = graph.read(op, 0), x = graph.read(op, 1);
  Type element = sumType(op->getOperand(1));
  Ref n = normalised(graph, x, statistics(graph, x, element, eps, centered));
  Ref product = graph.map(Space::Full, {dy, n}, [](Emit &e, ValueRange v) { return e.mul(v[0], v[1]); });
  graph.define(op->getResult(0), graph.sum(product, element));
  if (centered)
    graph.define(op->getResult(1), graph.sum(dy, element));
}
} // namespace

LogicalResult buildNormRule(Graph &graph, Operation *op) {
  auto eps = [](auto norm) { return norm.getEps().convertToDouble(); };
  if (auto norm = dyn_cast<LayerNormOp>(op))
    normalise(graph, op, eps(norm), true);
  else if (auto norm = dyn_cast<RmsNormOp>(op))
    normalise(graph, op, eps(norm), false);
  else if (auto norm = dyn_cast<LayerNormGradOp>(op))
    inputGradient(graph, op, eps(norm), true);
  else if (auto norm = dyn_cast<RmsNormGradOp>(op))
    inputGradient(graph, op, eps(norm), false);
  else if (auto norm = dyn_cast<LayerNormParamGradOp>(op))
    parameterGradient(graph, op, eps(norm), true);
  else if (auto norm = dyn_cast<RmsNormParamGradOp>(op))
    parameterGradient(graph, op, eps(norm), false);
  else
    return failure();
  return success();
}
} // namespace hocket::codegen
