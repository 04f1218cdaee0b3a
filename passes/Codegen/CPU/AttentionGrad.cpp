// Attention's backward pass in blocks (FlashAttention, appendix B.4): weights come again from the log-sum-exp. A tile
// is one key head of one sequence with all its queries, in fixed order, so gradients of keys and values are added in
// one order whatever the number of threads.
#include "passes/Codegen/CPU/AttentionTile.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
struct Backward : AttentionTile {
  Value dy, q, k, v, y, lse, dq, dk, dv; ///< buffers
  Value turnedQ, turnedDy, turnedDq, weights, slopes,
      delta;    ///< on the stack: [d,32], [e,32], [d,32], [keyBlock,32] twice, [32]
  Value logSum; ///< of the 32 queries

  Backward(Emit &e, const SpecialKernel &kernel, nn::AttentionGradOp op)
      : AttentionTile(e, AttentionSizes(op.getQ(), op.getK(), op.getV()), AttentionMask(op),
                      kernel.of(op.getQPositions()), kernel.of(op.getKPositions())),
        dy(kernel.of(op.getDy())), q(kernel.of(op.getQ())), k(kernel.of(op.getK())), v(kernel.of(op.getV())),
        y(kernel.of(op.getY())), lse(kernel.of(op.getLse())), dq(kernel.ofResult(op.getDq())),
        dk(kernel.ofResult(op.getDk())), dv(kernel.ofResult(op.getDv())) {
    turnedQ = e.stackArray(f32, sizes.d * lanes), turnedDy = e.stackArray(f32, sizes.e * lanes);
    turnedDq = e.stackArray(f32, sizes.d * lanes);
    weights = e.stackArray(f32, keyBlock * lanes), slopes = e.stackArray(f32, keyBlock * lanes);
    delta = e.stackArray(f32, lanes);
  }
  Value at(Value base, Value row) { return e.loadVector(f32, base, e.times(row, lanes), Value()); }
  void put(Value value, Value base, Value row) { e.storeVector(value, base, e.times(row, lanes), Value()); }

  void tile(Value index) {
    Value kvHead = e.modulo(index, sizes.kv), batch = e.over(index, sizes.kv);
    Value keyRow = e.plus(e.times(batch, sizes.t * sizes.kv), kvHead);
    clear(dk, keyRow, sizes.d);
    clear(dv, keyRow, sizes.e);
    e.loop(e.i64(0), e.i64(sizes.g), 1, [&](Value group) {
      Value head = e.plus(e.times(kvHead, sizes.g), group);
      e.loop(e.i64(0), e.i64(sizes.s), lanes, [&](Value firstQuery) { queries(batch, head, keyRow, firstQuery); });
    });
  }
  void clear(Value base, Value keyRow, int64_t width) {
    e.loop(e.i64(0), e.i64(sizes.t), 1, [&](Value key) {
      Value row = e.times(e.plus(keyRow, e.times(key, sizes.kv)), width);
      pieces(width, [&](Value column, Value mask) {
        e.storeVector(e.number(0, e.vectorOf(f32)), base, e.plus(row, column), mask);
      });
    });
  }
  void pieces(int64_t width, llvm::function_ref<void(Value column, Value mask)> body) {
    for (int64_t column = 0; column < width; column += lanes)
      body(e.i64(column), width - column < lanes ? e.lanesBelow(e.i64(width - column)) : Value());
  }

  void queries(Value batch, Value head, Value keyRow, Value firstQuery) {
    Value row = e.plus(e.times(e.plus(e.times(batch, sizes.s), firstQuery), sizes.heads()), head);
    beginQueries(batch, firstQuery);
    turn(q, e.times(row, sizes.d), sizes.heads() * sizes.d, sizes.d, turnedQ, present);
    turn(dy, e.times(row, sizes.e), sizes.heads() * sizes.e, sizes.e, turnedDy, present);
    findDelta(row);
    logSum = e.gather(f32, lse, row, sizes.heads(), present);
    e.zero(f32, turnedDq, sizes.d * lanes);
    e.loop(e.i64(0), e.i64(sizes.t), keyBlock, [&](Value firstKey) {
      Value endKey = e.least(e.plus(firstKey, keyBlock), e.i64(sizes.t));
      e.when(anySeen(batch, firstKey, endKey), [&] {
        Value firstRow = e.plus(keyRow, e.times(firstKey, sizes.kv));
        findSlopes(batch, firstRow, firstKey, endKey);
        addGradients(row, firstRow, e.minus(endKey, firstKey),
                     e.least(e.i64(lanes), e.minus(e.i64(sizes.s), firstQuery)));
      });
    });
    e.loop(e.i64(0), e.i64(sizes.d), 1, [&](Value j) {
      e.scatter(at(turnedDq, j), dq, e.plus(e.times(row, sizes.d), j), sizes.heads() * sizes.d, present);
    });
  }
  /// delta = sum over e of dy y, per query.
  void findDelta(Value row) {
    Value found = e.loop(e.i64(0), e.i64(sizes.e), 1, e.number(0, e.vectorOf(f32)), [&](Value j, ValueRange so) {
                     Value offset = e.plus(e.times(row, sizes.e), j);
                     Value out = e.gather(f32, y, offset, sizes.heads() * sizes.e, present);
                     return SmallVector<Value>{e.mulAdd(at(turnedDy, j), out, so.front())};
                   }).front();
    put(found, delta, e.i64(0));
  }
  /// weights[key, query] and slopes[key, query], the derivative by q k.
  void findSlopes(Value batch, Value firstRow, Value firstKey, Value endKey) {
    Value keys = e.minus(endKey, firstKey);
    product({k, e.times(firstRow, sizes.d), sizes.kv * sizes.d, 1}, {turnedQ, e.i64(0), lanes, 1},
            {weights, e.i64(0), lanes, 1}, keys, e.i64(sizes.d), false, Value());
    product({v, e.times(firstRow, sizes.e), sizes.kv * sizes.e, 1}, {turnedDy, e.i64(0), lanes, 1},
            {slopes, e.i64(0), lanes, 1}, keys, e.i64(sizes.e), false, Value());
    Value deltas = at(delta, e.i64(0));
    e.loop(e.i64(0), keys, 1, [&](Value j) {
      Value s = score(at(weights, j));
      Type type = s.getType();
      Value seen = e.both(sees(batch, e.plus(firstKey, j)), present);
      Value difference = e.sub(s, logSum);
      if (seen) // a query that sees nothing has no log-sum-exp
        difference = e.choose(seen, difference, e.neutral(Reduction::Max, type));
      Value weight = e.exp(difference);
      Value factor = e.number(mask.scale, type);
      if (mask.softcap != 0) { // s = cap tanh(x / cap): ds/dx = 1 - (s / cap)^2
        Value ratio = e.mul(s, e.number(1 / mask.softcap, type));
        factor = e.mul(factor, e.sub(e.number(1, type), e.mul(ratio, ratio)));
      }
      Value slope = e.mul(e.mul(weight, e.sub(at(slopes, j), deltas)), factor);
      put(weight, weights, j);
      put(slope, slopes, j);
    });
  }
  void addGradients(Value row, Value firstRow, Value keys, Value queryCount) {
    // dq[d, query] += k[key, d] slope[key, query]
    product({k, e.times(firstRow, sizes.d), 1, sizes.kv * sizes.d}, {slopes, e.i64(0), lanes, 1},
            {turnedDq, e.i64(0), lanes, 1}, e.i64(sizes.d), keys, true, Value());
    // dv[key, e] += weight[key, query] dy[query, e];  dk[key, d] += slope[key, query] q[query, d]
    auto add = [&](Value rows, Value left, Value right, Value out, int64_t width) {
      pieces(width, [&](Value column, Value lanesThere) {
        Matrix queryRows{right, e.plus(e.times(row, width), column), sizes.heads() * width, 1};
        Matrix outRows{out, e.plus(e.times(firstRow, width), column), sizes.kv * width, 1};
        product({left, e.i64(0), lanes, 1}, queryRows, outRows, rows, queryCount, true, lanesThere);
      });
    };
    add(keys, weights, dy, dv, sizes.e);
    add(keys, slopes, q, dk, sizes.d);
  }
};
} // namespace

int64_t emitAttentionGrad(Emit &e, const SpecialKernel &kernel, nn::AttentionGradOp op, Value begin, Value end) {
  Backward backward(e, kernel, op);
  e.loop(begin, end, 1, [&](Value tile) { backward.tile(tile); });
  return backward.sizes.b * backward.sizes.kv;
}
} // namespace hocket::cpu
