// The optimizer's update and the learning rate.
#include "passes/Codegen/Graph/Graph.h"
#include "passes/Codegen/Graph/Pairs.h"
#include <numbers>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
struct Adam {
  double beta1, beta2, eps, decay, scale;
  explicit Adam(AdamWOp op)
      : beta1(op.getBetas()[0]), beta2(op.getBetas()[1]), eps(op.getEps().convertToDouble()),
        decay(op.getWeightDecay().convertToDouble()), scale(op.getLrScale().convertToDouble()) {}
};

/// Numbers of the step, once, in double (1 - beta^step is small in the first steps) and as three pairs: with
/// s = sqrt(1 - beta2^step), rate s / (1 - beta1^step), eps s, rate decay. So an update is
///   rate m' / (1 - beta1^step) / (sqrt(v' / (1 - beta2^step)) + eps) = (rate s / (1 - beta1^step)) m' / (sqrt(v') +
///   eps s).
SmallVector<Value> numbersOfStep(Emit &e, const Adam &adam, Value learningRate, Value step) {
  Type real = e.getF64Type();
  auto number = [&](double value) { return e.number(value, real); };
  Value steps = arith::SIToFPOp::create(e, real, step);
  auto left = [&](double beta) {
    return e.sub(number(1), math::PowFOp::create(e, number(beta), steps)); // 1 - beta^step
  };
  Value rate = e.mul(arith::ExtFOp::create(e, real, learningRate), number(adam.scale));
  Value s = math::SqrtOp::create(e, left(adam.beta2));
  SmallVector<Value> numbers;
  for (Value value :
       {e.div(e.mul(rate, s), left(adam.beta1)), e.mul(number(adam.eps), s), e.mul(rate, number(adam.decay))}) {
    Pair pair = Pairs(e).split(value);
    numbers.append({pair.hi, pair.lo});
  }
  return numbers;
}

/// The new parameter, m and v of one element. In pairs: m may change its sign, and a parameter, so that terms cancel.
SmallVector<Value> updated(Emit &e, const Adam &adam, Value param, Value grad, Value m, Value v, Value clip,
                           Pair factor, Pair eps, Pair shrink) {
  Pairs pairs(e);
  Type type = param.getType();
  auto joined = [&](double beta, Value old, Pair fresh) {
    Pair sum =
        pairs.sum(pairs.product(pairs.number(beta, type), old), pairs.product(pairs.number(1 - beta, type), fresh));
    return pairs.ordered(sum.hi, sum.lo);
  };
  Pair g = pairs.product(grad, clip);
  Pair newM = joined(adam.beta1, m, g), newV = joined(adam.beta2, v, pairs.product(g, g));
  Pair direction = pairs.quotient(pairs.product(factor, newM), pairs.sum(pairs.sqrt(newV), eps));
  Pair update = pairs.sum(pairs.product(shrink, param), direction);
  Pair left = pairs.sum(param, pairs.negated(update.hi));
  return {e.add(left.hi, e.sub(left.lo, update.lo)), newM.hi, newV.hi};
}

void adamw(Graph &graph, AdamWOp op) {
  Adam adam(op);
  Space space = graph.getShape().spaces.lookup(op.getNewParam());
  Ref numbers =
      graph.map(Space::Row, {graph.read(op, 4), graph.read(op, 6)},
                Compute([=](Emit &e, const Place &, ValueRange v) { return numbersOfStep(e, adam, v[0], v[1]); }));
  SmallVector<Ref> in;
  for (unsigned i : {0, 1, 2, 3, 5})
    in.push_back(graph.read(op, i));
  for (unsigned i = 0; i < 6; ++i)
    in.push_back({numbers.step, i});
  bool optional = static_cast<bool>(op.getUnless());
  if (optional)
    in.push_back(graph.read(op, 7));
  Ref made = graph.map(space, in, Compute([=](Emit &e, const Place &, ValueRange v) {
                         SmallVector<Value> results =
                             updated(e, adam, v[0], v[1], v[2], v[3], v[4], {v[5], v[6]}, {v[7], v[8]}, {v[9], v[10]});
                         if (optional) {
                           Value zero = e.number(0, v[11].getType());
                           Value skip = arith::CmpFOp::create(e, arith::CmpFPredicate::UNE, v[11], zero);
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
