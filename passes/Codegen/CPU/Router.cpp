// The choice of experts and its derivative. A tile is one sequence: places are given out in order of position, so its
// tokens come one after another, and nothing crosses sequences. The order is found by counting, for each token, those
// before it (quadratic in tokens, 32 compares at once; fine to 10^4).
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
struct RouterTile {
  Emit &e;
  int64_t tokens, experts, top;
  bool sigmoid, normalized;
  double scale, balance;
  Value logits;
  Type f32, i32, i64;
  Value scores, taken,
      choices; ///< on the stack, one an expert: score, chosen by this token (i32), tokens that chose it (f32)

  template <typename OpT>
  RouterTile(Emit &e, const SpecialKernel &kernel, OpT op)
      : e(e), tokens(op.getLogits().getType().getDimSize(1)), experts(op.getLogits().getType().getDimSize(2)),
        top(op.getTopAttr().getInt()), sigmoid(op.getScores() == nn::ScoreKind::Sigmoid),
        normalized(op.getNormalized()), scale(op.getScale().convertToDouble()),
        balance(op.getBalance().convertToDouble()), logits(kernel.of(op.getLogits())), f32(e.getF32Type()),
        i32(e.getI32Type()), i64(e.getI64Type()) {
    scores = e.stackArray(f32, padded()), taken = e.stackArray(i32, padded()), choices = e.stackArray(f32, padded());
  }
  int64_t padded() const { return llvm::alignTo(experts, lanes); }
  Value real(double value) { return e.number(value, f32); }
  Value above(Value a, Value b) { return arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, a, b); }
  Value at(Value array, Value column) { return e.loadVector(f32, array, column, Value()); }
  void put(Value value, Value array, Value column) { e.storeVector(f32, value, array, column, Value()); }

  /// Folds a vector over the experts' columns, 32 at a time; joins its lanes. Lanes beyond the experts are `beyond`.
  Value fold(Reduction kind, double beyond, function_ref<Value(Value column, Value mask)> value) {
    Value start = e.neutral(kind, e.vectorOf(f32));
    Value all = e.loop(e.i64(0), e.i64(experts), lanes, start, [&](Value column, ValueRange so) {
                   Value mask = maskAt(column), next = value(column, mask);
                   if (mask)
                     next = e.choose(mask, next, e.number(beyond, next.getType()));
                   return SmallVector<Value>{e.combine(kind, so.front(), next)};
                 }).front();
    return e.joinLanes(kind, all);
  }
  Value maskAt(Value column) { return experts % lanes ? e.lanesBelow(e.minus(e.i64(experts), column)) : Value(); }
  void overExperts(function_ref<void(Value column)> body) { e.loop(e.i64(0), e.i64(experts), lanes, body); }

  /// Fills `scores` for the token whose logits begin at `row`; returns the sum of them all.
  Value score(Value row) {
    auto logit = [&](Value column, Value mask) { return e.loadVector(f32, logits, e.plus(row, column), mask); };
    Value max = sigmoid ? Value() : fold(Reduction::Max, -std::numeric_limits<double>::infinity(), logit);
    Value sum = fold(Reduction::Sum, 0, [&](Value column, Value mask) -> Value {
      Value x = logit(column, mask), one = e.number(1, x.getType());
      Value value = sigmoid ? e.div(one, e.add(one, e.exp(arith::NegFOp::create(e, x)))) : e.exp(e.sub(x, max));
      if (mask)
        value = e.choose(mask, value, e.number(0, value.getType()));
      put(value, scores, column);
      return value;
    });
    if (sigmoid)
      return sum;
    overExperts([&](Value column) { put(e.div(at(scores, column), sum), scores, column); });
    return real(1);
  }

  /// Writes the chosen experts of a token to `chosen` (i64, from `first` on), and counts them.
  void choose(Value row, Value chosen, Value first) {
    e.zero(i32, taken, padded());
    e.loop(e.i64(0), e.i64(top), 1, [&](Value j) {
      SmallVector<Value> start{e.i64(-1), real(0)};
      Value best = e.loop(e.i64(0), e.i64(experts), 1, start, [&](Value expert, ValueRange so) {
                      Value logit = e.load(f32, logits, e.plus(row, expert));
                      Value isFree = e.compare(arith::CmpIPredicate::eq, e.load(i32, taken, expert), e.number(0, i32));
                      Value none = e.compare(arith::CmpIPredicate::slt, so[0], e.i64(0));
                      Value better = arith::OrIOp::create(e, none, above(logit, so[1]));
                      better = arith::AndIOp::create(e, isFree, better);
                      return SmallVector<Value>{e.choose(better, expert, so[0]), e.choose(better, logit, so[1])};
                    }).front();
      e.store(i32, e.number(1, i32), taken, best);
      e.store(i64, best, chosen, e.plus(first, j));
      e.store(f32, e.add(e.load(f32, choices, best), real(1)), choices, best);
    });
  }
  /// Sum over a token's choices.
  Value overChoices(Value chosen, Value first, function_ref<Value(Value j, Value expert)> value) {
    return e
        .loop(e.i64(0), e.i64(top), 1, real(0),
              [&](Value j, ValueRange so) {
                return SmallVector<Value>{e.add(so.front(), value(j, e.load(i64, chosen, e.plus(first, j))))};
              })
        .front();
  }
  Value chosenSum(Value chosen, Value first) {
    return overChoices(chosen, first, [&](Value, Value expert) { return e.load(f32, scores, expert); });
  }
  double partOfOne() const { return 1.0 / static_cast<double>(tokens * top); } ///< of a sequence's choices
};

struct Forward : RouterTile {
  Value positions, weights, slots, places, load;
  Value counts, shares, chosen,
      order; ///< on the stack: places given, sums of shares, this token's experts, tokens by position
  int64_t capacity;

  Forward(Emit &e, const SpecialKernel &kernel, nn::RouterOp op)
      : RouterTile(e, kernel, op), positions(kernel.of(op.getPositions())), weights(kernel.ofResult(op.getWeights())),
        slots(kernel.ofResult(op.getSlots())), places(kernel.ofResult(op.getTokens())),
        load(kernel.ofResult(op.getLoad())), capacity(op.getTokens().getType().getDimSize(2)) {
    counts = e.stackArray(i64, padded()), shares = e.stackArray(f32, padded());
    chosen = e.stackArray(i64, top), order = e.stackArray(i64, tokens);
  }

  void sortTokens(Value base) {
    e.loop(e.i64(0), e.i64(tokens), 1, [&](Value t) {
      Value own = e.load(i32, positions, e.plus(base, t)), zero = e.number(0, e.vectorOf(i32));
      Value before = e.loop(e.i64(0), e.i64(tokens), lanes, zero, [&](Value u, ValueRange so) {
                        Value mask = e.lanesBelow(e.minus(e.i64(tokens), u));
                        Value others = e.loadVector(i32, positions, e.plus(base, u), mask);
                        Value less = e.compare(arith::CmpIPredicate::slt, others, own);
                        Value same = e.compare(arith::CmpIPredicate::eq, others, own);
                        same = e.both(same, e.lanesBelow(e.minus(t, u)));
                        Value counts = e.both(mask, arith::OrIOp::create(e, less, same));
                        Value ones = arith::ExtUIOp::create(e, e.vectorOf(i32), counts);
                        return SmallVector<Value>{e.add(so.front(), ones)};
                      }).front();
      e.store(i64, t, order, e.widen(e.joinLanes(Reduction::Sum, before)));
    });
  }
  void tile(Value b) {
    Value base = e.times(b, tokens), firstPlace = e.times(b, experts * capacity);
    sortTokens(base);
    e.zero(f32, shares, padded()), e.zero(f32, choices, padded()), e.zero(i64, counts, padded());
    e.loop(e.i64(0), e.i64(experts * capacity), 1,
           [&](Value i) { e.store(i32, e.number(-1, i32), places, e.plus(firstPlace, i)); });
    e.loop(e.i64(0), e.i64(tokens), 1, [&](Value i) {
      Value t = e.load(i64, order, i), token = e.plus(base, t), row = e.times(token, experts);
      Value all = score(row);
      overExperts([&](Value c) { put(e.add(at(shares, c), e.div(at(scores, c), all)), shares, c); });
      choose(row, chosen, e.i64(0));
      Value sum = normalized ? chosenSum(chosen, e.i64(0)) : Value();
      e.loop(e.i64(0), e.i64(top), 1, [&](Value j) { place(t, e.plus(e.times(token, top), j), j, firstPlace, sum); });
    });
    if (!load) // without an auxiliary loss nobody reads it, and it has no memory
      return;
    Value product = fold(Reduction::Sum, 0, [&](Value c, Value) { return e.mul(at(choices, c), at(shares, c)); });
    e.store(f32, e.mul(product, real(balance * static_cast<double>(experts) * partOfOne())), load, b);
  }
  void place(Value t, Value choice, Value j, Value firstPlace, Value sum) {
    Value expert = e.load(i64, chosen, j), count = e.load(i64, counts, expert);
    e.store(i64, e.plus(count, 1), counts, expert);
    Value weight = e.mul(e.load(f32, scores, expert), real(scale));
    if (weights) // not where a combine is not weighted
      e.store(f32, sum ? e.div(weight, sum) : weight, weights, choice);
    Value slot = e.plus(e.times(expert, capacity), count);
    Value fits = e.compare(arith::CmpIPredicate::slt, count, e.i64(capacity));
    e.store(i32, arith::TruncIOp::create(e, i32, e.choose(fits, slot, e.i64(-1))), slots, choice);
    e.when(fits, [&] { e.store(i32, arith::TruncIOp::create(e, i32, t), places, e.plus(firstPlace, slot)); });
  }
};

struct Backward : RouterTile {
  Value dweights, dload, dlogits;
  Value chosen, dscores; ///< on the stack: experts of all tokens, and the gradients of one token's scores

  Backward(Emit &e, const SpecialKernel &kernel, nn::RouterGradOp op)
      : RouterTile(e, kernel, op), dweights(kernel.of(op.getDweights())), dlogits(kernel.ofResult(op.getDlogits())) {
    if (op.getDload())
      dload = kernel.of(op.getDload());
    chosen = e.stackArray(i64, tokens * top), dscores = e.stackArray(f32, padded());
  }
  void tile(Value b) {
    Value base = e.times(b, tokens);
    e.zero(f32, choices, padded());
    e.loop(e.i64(0), e.i64(tokens), 1,
           [&](Value t) { choose(e.times(e.plus(base, t), experts), chosen, e.times(t, top)); });
    e.loop(e.i64(0), e.i64(tokens), 1, [&](Value t) { token(e.plus(base, t), e.times(t, top), b); });
  }
  void token(Value token, Value first, Value b) {
    Value row = e.times(token, experts), firstWeight = e.times(token, top), all = score(row);
    Value sum = normalized ? chosenSum(chosen, first) : Value();
    auto dweight = [&](Value j) { return e.load(f32, dweights, e.plus(firstWeight, j)); };
    Value mean = !normalized ? Value() : overChoices(chosen, first, [&](Value j, Value expert) {
      return e.div(e.mul(dweight(j), e.load(f32, scores, expert)), sum);
    });
    loadPart(all, b);
    e.loop(e.i64(0), e.i64(top), 1, [&](Value j) {
      Value expert = e.load(i64, chosen, e.plus(first, j)), d = dweight(j);
      d = e.mul(normalized ? e.div(e.sub(d, mean), sum) : d, real(scale));
      e.store(f32, e.add(e.load(f32, dscores, expert), d), dscores, expert);
    });
    Value inner = sigmoid
                      ? Value()
                      : fold(Reduction::Sum, 0, [&](Value c, Value) { return e.mul(at(scores, c), at(dscores, c)); });
    overExperts([&](Value c) {
      Value s = at(scores, c), d = at(dscores, c);
      Value value = sigmoid ? e.mul(e.mul(s, e.sub(e.number(1, s.getType()), s)), d) : e.mul(s, e.sub(d, inner));
      e.storeVector(f32, value, dlogits, e.plus(row, c), maskAt(c));
    });
  }
  /// What the load gives to the scores: dload balance e (part - sum of share part) / all.
  void loadPart(Value all, Value b) {
    if (!dload)
      return e.zero(f32, dscores, padded());
    auto part = [&](Value c) { return e.mul(at(choices, c), real(partOfOne())); };
    Value shared = fold(Reduction::Sum, 0, [&](Value c, Value) { return e.mul(e.div(at(scores, c), all), part(c)); });
    Value factor = e.mul(e.load(f32, dload, b), real(balance * static_cast<double>(experts)));
    overExperts([&](Value c) { put(e.div(e.mul(e.sub(part(c), shared), factor), all), dscores, c); });
  }
};
} // namespace

int64_t emitRouter(Emit &e, const SpecialKernel &kernel, nn::RouterOp op, Value begin, Value end) {
  Forward router(e, kernel, op);
  e.loop(begin, end, 1, [&](Value sequence) { router.tile(sequence); });
  return op.getLogits().getType().getDimSize(0);
}
int64_t emitRouterGrad(Emit &e, const SpecialKernel &kernel, nn::RouterGradOp op, Value begin, Value end) {
  Backward router(e, kernel, op);
  e.loop(begin, end, 1, [&](Value sequence) { router.tile(sequence); });
  return op.getLogits().getType().getDimSize(0);
}
} // namespace hocket::cpu
