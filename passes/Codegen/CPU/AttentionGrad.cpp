// Attention's backward pass in blocks (FlashAttention, appendix B.4): weights come again from the log-sum-exp. A tile
// is one key head of one sequence with all its queries, in fixed order, so gradients of keys and values are added in
// one order whatever the number of threads.
#include "passes/Codegen/CPU/AttentionTile.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
struct Backward : AttentionTile {
  Rows dy, q, k, v, y, dq, dk, dv;                  ///< all rows of all heads; dk and dv are f32
  Value lse;                                        ///< a buffer
  Value wideQ, wideK, wideV, wideDy, wideY, wideDq; ///< rows of 16-bit operands and results as f32
  Value turnedQ, turnedDy, turnedDq, weights, slopes,
      delta;    ///< on the stack: [d,32], [e,32], [d,32], [keyBlock,32] twice, [32]
  Value logSum; ///< of the 32 queries

  Backward(Emit &e, const SpecialKernel &kernel, nn::AttentionGradOp op)
      : AttentionTile(e, kernel, op), dy(rowsOf(op.getDy(), kernel.of(op.getDy()))),
        q(rowsOf(op.getQ(), kernel.of(op.getQ()))), k(rowsOf(op.getK(), kernel.of(op.getK()))),
        v(rowsOf(op.getV(), kernel.of(op.getV()))), y(rowsOf(op.getY(), kernel.of(op.getY()))),
        dq(rowsOf(op.getDq(), kernel.ofResult(op.getDq()))), dk(rowsOf(op.getDk(), kernel.ofResult(op.getDk()))),
        dv(rowsOf(op.getDv(), kernel.ofResult(op.getDv()))), lse(kernel.of(op.getLse())) {
    turnedQ = e.stackArray(f32, sizes.d * lanes), turnedDy = e.stackArray(f32, sizes.e * lanes);
    turnedDq = e.stackArray(f32, sizes.d * lanes);
    weights = e.stackArray(f32, keyBlock * lanes), slopes = e.stackArray(f32, keyBlock * lanes);
    delta = e.stackArray(f32, lanes);
    wideQ = scratchRows(q.element, lanes, sizes.d), wideDq = scratchRows(dq.element, lanes, sizes.d);
    wideDy = scratchRows(dy.element, lanes, sizes.e), wideY = scratchRows(y.element, lanes, sizes.e);
    wideK = scratchRows(k.element, keyBlock, sizes.d), wideV = scratchRows(v.element, keyBlock, sizes.e);
  }

  void tile(Value index) {
    Value kvHead = e.modulo(index, sizes.kv), batch = e.over(index, sizes.kv);
    Value keyRow = e.plus(e.times(batch, sizes.t * sizes.kv), kvHead);
    clear(dk.from(e, keyRow));
    clear(dv.from(e, keyRow));
    e.loop(e.i64(0), e.i64(sizes.g), 1, [&](Value group) {
      Value head = e.plus(e.times(kvHead, sizes.g), group);
      e.loop(e.i64(0), e.i64(sizes.s), lanes, [&](Value firstQuery) { queries(batch, head, keyRow, firstQuery); });
    });
  }
  void clear(const Rows &rows) {
    e.loop(e.i64(0), e.i64(sizes.t), 1, [&](Value key) {
      Value row = e.plus(rows.offset, e.times(key, rows.stride));
      pieces(rows.width, [&](Value column, Value mask) {
        e.storeVector(f32, e.number(0, e.vectorOf(f32)), rows.base, e.plus(row, column), mask);
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
    Matrix queryRows = widened(q.from(e, row), queryCount, wideQ),
           dyRows = widened(dy.from(e, row), queryCount, wideDy);
    turn(queryRows, sizes.d, turnedQ);
    turn(dyRows, sizes.e, turnedDy);
    findDelta(widened(y.from(e, row), queryCount, wideY));
    logSum = e.gather(f32, lse, row, sizes.heads(), present);
    e.zero(f32, turnedDq, sizes.d * lanes);
    e.loop(e.i64(0), e.i64(sizes.t), keyBlock, [&](Value firstKey) {
      Value endKey = e.least(e.plus(firstKey, keyBlock), e.i64(sizes.t));
      e.when(anySeen(batch, firstKey, endKey), [&] {
        Value firstRow = e.plus(keyRow, e.times(firstKey, sizes.kv));
        Value keys = e.minus(endKey, firstKey);
        Matrix keyRows = widened(k.from(e, firstRow), keys, wideK);
        findSlopes(keyRows, widened(v.from(e, firstRow), keys, wideV), batch, firstKey, keys);
        addGradients(keyRows, queryRows, dyRows, firstRow, keys);
      });
    });
    turnBack(turnedDq, dq.from(e, row), wideDq);
  }
  /// delta = sum over e of dy y, per query.
  void findDelta(const Matrix &rows) {
    Value found = e.loop(e.i64(0), e.i64(sizes.e), 1, e.number(0, e.vectorOf(f32)), [&](Value j, ValueRange so) {
                     Value out = e.gather(f32, rows.base, e.plus(rows.offset, j), rows.rowStride, present);
                     return SmallVector<Value>{e.mulAdd(at(turnedDy, j), out, so.front())};
                   }).front();
    put(found, delta, e.i64(0));
  }
  /// weights[key, query] and slopes[key, query], the derivative by q k.
  void findSlopes(const Matrix &keyRows, const Matrix &valueRows, Value batch, Value firstKey, Value keys) {
    product(keyRows, stacked(turnedQ), stacked(weights), keys, e.i64(sizes.d), false, Value());
    product(valueRows, stacked(turnedDy), stacked(slopes), keys, e.i64(sizes.e), false, Value());
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
  void addGradients(const Matrix &keyRows, const Matrix &queryRows, const Matrix &dyRows, Value firstRow, Value keys) {
    // dq[d, query] += k[key, d] slope[key, query]
    product(keyRows.transposed(), stacked(slopes), stacked(turnedDq), e.i64(sizes.d), keys, true, Value());
    // dv[key, e] += weight[key, query] dy[query, e];  dk[key, d] += slope[key, query] q[query, d]
    auto add = [&](Value left, const Matrix &right, const Rows &out) {
      pieces(out.width, [&](Value column, Value lanesThere) {
        Matrix rightPiece{right.base, e.plus(right.offset, column), right.rowStride, 1};
        Matrix outPiece{out.base, e.plus(out.offset, column), out.stride, 1};
        product(stacked(left), rightPiece, outPiece, keys, queryCount, true, lanesThere);
      });
    };
    add(weights, dyRows, dv.from(e, firstRow));
    add(slopes, queryRows, dk.from(e, firstRow));
  }
  Matrix stacked(Value base) { return {base, e.i64(0), lanes, 1}; }
};
} // namespace

int64_t emitAttentionGrad(Emit &e, const SpecialKernel &kernel, nn::AttentionGradOp op, Value begin, Value end) {
  Backward backward(e, kernel, op);
  e.loop(begin, end, 1, [&](Value tile) { backward.tile(tile); });
  return backward.sizes.b * backward.sizes.kv;
}
} // namespace hocket::cpu
