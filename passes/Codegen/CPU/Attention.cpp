// Attention's forward pass in blocks (FlashAttention, Dao et al. 2022, algorithm 1): 32 queries at a time run over the
// keys with a running maximum, so that no row of scores is kept. Blocks of keys that no query sees are left out, which
// changes no bit. A query that sees no key gives zero, and a log-sum-exp of minus infinity.
#include "passes/Codegen/CPU/AttentionTile.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
/// Stands for "no score yet": finite, so that the difference of two is no NaN; below any score of finite inputs that
/// matters.
constexpr double nothingSeen = -1e30;

struct Forward : AttentionTile {
  Rows q, k, v, y;                             ///< all rows of all heads
  Value lse;                                   ///< null if it is not asked for
  Value wideQ, wideK, wideV, wideY;            ///< rows of 16-bit operands and results as f32
  Value turnedQ, scores, sums, maximum, total; ///< on the stack: [d,32], [keyBlock,32], [e,32], [32], [32]

  Forward(Emit &e, const SpecialKernel &kernel, nn::AttentionOp op)
      : AttentionTile(e, kernel, op), q(rowsOf(op.getQ(), kernel.of(op.getQ()))),
        k(rowsOf(op.getK(), kernel.of(op.getK()))), v(rowsOf(op.getV(), kernel.of(op.getV()))),
        y(rowsOf(op.getY(), kernel.ofResult(op.getY()))) {
    if (op.getLse())
      lse = kernel.ofResult(op.getLse());
    turnedQ = e.stackArray(f32, sizes.d * lanes), scores = e.stackArray(f32, keyBlock * lanes);
    sums = e.stackArray(f32, sizes.e * lanes);
    maximum = e.stackArray(f32, lanes), total = e.stackArray(f32, lanes);
    wideQ = scratchRows(q.element, lanes, sizes.d), wideY = scratchRows(y.element, lanes, sizes.e);
    wideK = scratchRows(k.element, keyBlock, sizes.d), wideV = scratchRows(v.element, keyBlock, sizes.e);
  }
  void tile(Value index) {
    Value firstQuery = e.times(e.modulo(index, queryBlocks()), lanes);
    Value head = e.modulo(e.over(index, queryBlocks()), sizes.heads());
    Value batch = e.over(index, queryBlocks() * sizes.heads());
    Value row = e.plus(e.times(e.plus(e.times(batch, sizes.s), firstQuery), sizes.heads()), head);
    beginQueries(batch, firstQuery);
    turn(widened(q.from(e, row), queryCount, wideQ), sizes.d, turnedQ);
    e.zero(f32, sums, sizes.e * lanes);
    put(e.number(nothingSeen, e.vectorOf(f32)), maximum, e.i64(0));
    put(e.number(0, e.vectorOf(f32)), total, e.i64(0));
    Value kvHead = e.over(head, sizes.g);
    e.loop(e.i64(0), e.i64(sizes.t), keyBlock, [&](Value firstKey) {
      Value endKey = e.least(e.plus(firstKey, keyBlock), e.i64(sizes.t));
      e.when(anySeen(batch, firstKey, endKey), [&] { block(batch, kvHead, firstKey, endKey); });
    });
    finish(row);
  }

  void block(Value batch, Value kvHead, Value firstKey, Value endKey) {
    Value keys = e.minus(endKey, firstKey);
    Value keyRow = e.plus(e.times(e.plus(e.times(batch, sizes.t), firstKey), sizes.kv), kvHead);
    Matrix keyRows = widened(k.from(e, keyRow), keys, wideK);
    Matrix scoreRows{scores, e.i64(0), lanes, 1};
    product(keyRows, {turnedQ, e.i64(0), lanes, 1}, scoreRows, keys, e.i64(sizes.d), false, Value());
    Value before = at(maximum, e.i64(0));
    Value after = e.loop(e.i64(0), keys, 1, before, [&](Value j, ValueRange so) {
                     Value s = score(at(scores, j));
                     if (Value seen = sees(batch, e.plus(firstKey, j)))
                       s = e.choose(seen, s, e.neutral(Reduction::Max, s.getType()));
                     put(s, scores, j);
                     return SmallVector<Value>{e.max(so.front(), s)};
                   }).front();
    Value shrink = e.exp(e.sub(before, after));
    Value newTotal = e.loop(e.i64(0), keys, 1, e.mul(at(total, e.i64(0)), shrink), [&](Value j, ValueRange so) {
                        Value weight = e.exp(e.sub(at(scores, j), after));
                        put(weight, scores, j);
                        return SmallVector<Value>{e.add(so.front(), weight)};
                      }).front();
    put(after, maximum, e.i64(0));
    put(newTotal, total, e.i64(0));
    e.loop(e.i64(0), e.i64(sizes.e), 1, [&](Value j) { put(e.mul(at(sums, j), shrink), sums, j); });
    // sums[e, query] += v[key, e] weight[key, query]
    Matrix values = widened(v.from(e, keyRow), keys, wideV);
    product(values.transposed(), scoreRows, {sums, e.i64(0), lanes, 1}, e.i64(sizes.e), keys, true, Value());
  }

  void finish(Value row) {
    Value weights = at(total, e.i64(0));
    Value none = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, weights, e.number(0, weights.getType()));
    Value share = e.div(e.number(1, weights.getType()), e.choose(none, e.number(1, weights.getType()), weights));
    e.loop(e.i64(0), e.i64(sizes.e), 1, [&](Value j) { put(e.mul(at(sums, j), share), sums, j); });
    turnBack(sums, y.from(e, row), wideY);
    if (!lse)
      return;
    Value logSum = e.add(at(maximum, e.i64(0)), math::LogOp::create(e, weights));
    logSum = e.choose(none, e.neutral(Reduction::Max, logSum.getType()), logSum);
    e.scatter(f32, logSum, lse, row, sizes.heads(), present);
  }
};
} // namespace

int64_t emitAttention(Emit &e, const SpecialKernel &kernel, nn::AttentionOp op, Value begin, Value end) {
  Forward forward(e, kernel, op);
  e.loop(begin, end, 1, [&](Value tile) { forward.tile(tile); });
  return forward.sizes.b * forward.sizes.heads() * forward.queryBlocks();
}
} // namespace hocket::cpu
