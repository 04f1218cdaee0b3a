// The optimizer's update and the learning rate.
#include "passes/Codegen/Graph/Graph.h"
#include <numbers>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// 1 / (1 - beta^step), in double: beta^step is near 1 in the first steps.
Ref correction(Graph &graph, Ref step, double beta) {
  return graph.map(Space::Row, {step}, [=](Emit &e, ValueRange v) -> Value {
    Type real = e.getF64Type();
    Value steps = arith::SIToFPOp::create(e, real, v[0]);
    Value left = e.sub(e.number(1, real), math::PowFOp::create(e, e.number(beta, real), steps));
    return arith::TruncFOp::create(e, e.getF32Type(), e.div(e.number(1, real), left));
  });
}

void adamw(Graph &graph, AdamWOp op) {
  double b1 = op.getBetas()[0], b2 = op.getBetas()[1];
  double eps = op.getEps().convertToDouble(), decay = op.getWeightDecay().convertToDouble();
  double scale = op.getLrScale().convertToDouble();
  Space space = graph.getShape().spaces.lookup(op.getNewParam());
  SmallVector<Ref> in;
  for (unsigned i = 0; i < 6; ++i)
    in.push_back(graph.read(op, i));
  Ref step = graph.read(op, 6);
  in.push_back(correction(graph, step, b1));
  in.push_back(correction(graph, step, b2));
  bool optional = static_cast<bool>(op.getUnless());
  if (optional)
    in.push_back(graph.read(op, 7));
  Ref made = graph.map(space, in, Compute([=](Emit &e, const Place &, ValueRange v) {
                         Value param = v[0];
                         Type type = param.getType();
                         auto real = [&](double value) { return e.number(value, type); };
                         Value grad = e.mul(v[1], v[5]);
                         Value m = e.mulAdd(real(b1), v[2], e.mul(real(1 - b1), grad));
                         Value square = e.mul(grad, grad);
                         Value second = e.mulAdd(real(b2), v[3], e.mul(real(1 - b2), square));
                         Value deviation = e.add(math::SqrtOp::create(e, e.mul(second, v[7])), real(eps));
                         Value direction = e.mulAdd(real(decay), param, e.div(e.mul(m, v[6]), deviation));
                         Value rate = e.mul(v[4], e.number(-scale, v[4].getType()));
                         SmallVector<Value> results{e.mulAdd(rate, direction, param), m, second};
                         if (optional) {
                           Value zero = e.number(0, v[8].getType());
                           Value skip = arith::CmpFOp::create(e, arith::CmpFPredicate::UNE, v[8], zero);
                           for (auto [i, operand] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 3)})
                             results[i] = e.choose(skip, v[operand], results[i]);
                         }
                         return results;
                       }));
  for (OpResult result : op->getResults())
    graph.define(result, {made.step, result.getResultNumber()});
}

/// Linear warm-up, then a cosine from peak to floor at `decay`; constant without `decay`. In double: it runs once a
/// step.
void cosineRate(Graph &graph, CosineRateOp op) {
  double peak = op.getPeak().convertToDouble(), floor = op.getFloor().convertToDouble();
  double warmup = static_cast<double>(op.getWarmup());
  std::optional<double> decay;
  if (op.getDecay())
    decay = static_cast<double>(*op.getDecay());
  Type element = scalarType(cast<RankedTensorType>(op.getRate().getType()).getElementType());
  Ref rate = graph.map(Space::Row, {graph.read(op, 0)}, [=](Emit &e, ValueRange v) -> Value {
    Type real = e.getF64Type();
    Value step = arith::SIToFPOp::create(e, real, v[0]);
    Value later = e.number(peak, real);
    if (decay) {
      Value progress = e.div(e.sub(step, e.number(warmup, real)), e.number(std::max(*decay - warmup, 1.0), real));
      progress = arith::MinNumFOp::create(e, e.max(progress, e.number(0, real)), e.number(1, real));
      Value cosine = math::CosOp::create(e, e.mul(progress, e.number(std::numbers::pi, real)));
      Value share = e.mul(e.number(0.5, real), e.add(e.number(1, real), cosine));
      later = e.add(e.number(floor, real), e.mul(e.number(peak - floor, real), share));
    }
    if (warmup > 0) {
      Value early = arith::CmpFOp::create(e, arith::CmpFPredicate::OLT, step, e.number(warmup, real));
      later = e.choose(early, e.mul(e.number(peak / warmup, real), step), later);
    }
    return element.isF64() ? later : Value(arith::TruncFOp::create(e, element, later));
  });
  graph.define(op.getRate(), rate);
}
} // namespace

LogicalResult buildOptimizerRule(Graph &graph, Operation *op) {
  if (auto update = dyn_cast<AdamWOp>(op))
    return adamw(graph, update), success();
  if (auto rate = dyn_cast<CosineRateOp>(op))
    return cosineRate(graph, rate), success();
  return failure();
}
} // namespace hocket::codegen
