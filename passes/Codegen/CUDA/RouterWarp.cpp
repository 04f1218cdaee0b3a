// See RouterWarp.h.
#include "passes/Codegen/CUDA/RouterWarp.h"
using namespace mlir;

namespace hocket::cuda {
Value RouterWarp::exists(int64_t slot) { return e.compare(arith::CmpIPredicate::slt, places[slot], e.i64(experts)); }
Value RouterWarp::joined(Reduction kind, Value number) { return e.joinThreads({kind}, number, 32, lane).front(); }

Value RouterWarp::score(Value row, Value ownLane) {
  lane = ownLane;
  scores.clear(), places.clear(), own.clear();
  Value low = e.neutral(Reduction::Max, f32), zero = real(0);
  for (int64_t i = 0; i < slots(); ++i) {
    places.push_back(e.plus(lane, 32 * i));
    Value at = e.plus(row, e.choose(exists(i), places[i], e.i64(0)));
    own.push_back(e.choose(exists(i), e.load(f32, logits, at), low));
  }
  Value max = low, sum = zero;
  for (Value logit : own)
    max = e.max(max, logit);
  if (!sigmoid)
    max = joined(Reduction::Max, max);
  for (auto [i, logit] : llvm::enumerate(own)) {
    Value one = real(1);
    Value value = sigmoid ? e.div(one, e.add(one, e.exp(arith::NegFOp::create(e, logit)))) : e.exp(e.sub(logit, max));
    scores.push_back(e.choose(exists(static_cast<int64_t>(i)), value, zero));
    sum = e.add(sum, scores.back());
  }
  sum = joined(Reduction::Sum, sum);
  if (sigmoid)
    return sum;
  for (Value &value : scores)
    value = e.div(value, sum);
  return real(1);
}

RouterWarp::Values RouterWarp::choose() {
  Values chosen, isFree;
  for (int64_t i = 0; i < slots(); ++i)
    isFree.push_back(exists(i));
  auto better = [&](Value logit, Value expert, Value bestLogit, Value best) {
    Value none = e.compare(arith::CmpIPredicate::slt, best, e.i64(0));
    Value above = arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, logit, bestLogit);
    Value same = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, logit, bestLogit);
    Value earlier = e.compare(arith::CmpIPredicate::slt, expert, best);
    Value tie = arith::AndIOp::create(e, same, earlier);
    return Value(arith::OrIOp::create(e, none, arith::OrIOp::create(e, above, tie)));
  };
  for (int64_t j = 0; j < top; ++j) {
    Value best = e.i64(-1), bestLogit = real(0);
    for (int64_t i = 0; i < slots(); ++i) {
      Value is = arith::AndIOp::create(e, isFree[i], better(own[i], places[i], bestLogit, best));
      best = e.choose(is, places[i], best), bestLogit = e.choose(is, own[i], bestLogit);
    }
    for (int64_t distance = 16; distance >= 1; distance /= 2) {
      Value other = e.widen(e.shuffleXor(arith::TruncIOp::create(e, e.getI32Type(), best), distance));
      Value otherLogit = e.shuffleXor(bestLogit, distance);
      Value there = e.compare(arith::CmpIPredicate::sge, other, e.i64(0));
      Value is = arith::AndIOp::create(e, there, better(otherLogit, other, bestLogit, best));
      best = e.choose(is, other, best), bestLogit = e.choose(is, otherLogit, bestLogit);
    }
    for (int64_t i = 0; i < slots(); ++i)
      isFree[i] = e.both(isFree[i], e.compare(arith::CmpIPredicate::ne, places[i], best));
    chosen.push_back(best);
  }
  return chosen;
}

Value RouterWarp::ofExpert(ArrayRef<Value> values, Value expert) {
  Value mine = real(0);
  for (auto [value, place] : llvm::zip(values, places))
    mine = e.add(mine, e.choose(e.compare(arith::CmpIPredicate::eq, place, expert), value, real(0)));
  return joined(Reduction::Sum, mine);
}
} // namespace hocket::cuda
