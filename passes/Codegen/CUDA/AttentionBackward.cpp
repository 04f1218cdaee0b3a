// Attention's gradient (FlashAttention, Dao et al. 2022, appendix B.4; FlashAttention-2, section 3.1.2, without its
// atomic sums): weights come again from the log-sum-exp.
//
// One kernel keeps a tile of queries with their dy and walks over keys with their values, for dq; one keeps keys with
// values and walks over the queries, of all heads that share them, for dk and dv. With "own" and "other" for the two
// sides, both compute
//   dweights = ownB otherB^T   (dy v^T, or v dy^T)
//   weights  = exp(score(ownA otherA^T) - log-sum-exp)   (q k^T, or k q^T)
//   sumsB   += weights otherB                            (dv; not in the kernel of dq)
//   sumsA   += weights (dweights - delta) otherA         (dq, or dk)
// so they are one text. Each of the other side's two buffers is filled while the other one is read.
#include "passes/Codegen/CUDA/Attention.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
class Backward {
public:
  using Values = AttentionEmit::Values;
  Backward(const AttentionFrame &frame, nn::AttentionGradOp op, bool keepsKeys)
      : e(frame.e), keepsKeys(keepsKeys), sizes(op.getQ(), op.getK(), op.getV()), mask(op), scores(e, mask),
        shared(e, frame.shared) {
    AttentionForm form(frame, cast<RankedTensorType>(op.getQ().getType()).getElementType(), sizes);
    tile = form.streamedRows(keepsKeys);
    math = std::move(form.math);
    auto rows = [&](Value tensor) { return globalRows(frame, tensor); };
    dq = rows(op.getDq()), dk = rows(op.getDk()), dv = rows(op.getDv());
    queries = {rows(op.getQ()), rows(op.getDy()), {frame.buffer(op.getQPositions()), Value(), sizes.s}};
    keys = {rows(op.getK()), rows(op.getV()), {frame.buffer(op.getKPositions()), Value(), sizes.t}};
    if (mask.documents)
      queries.side.documents = frame.buffer(op.getDocuments()[0]),
      keys.side.documents = frame.buffer(op.getDocuments()[1]);
    logSums = frame.scratch;
    deltas = e.address(e.getF32Type(), frame.scratch, e.i64(sizes.b * sizes.heads() * sizes.s));
  }

  Launch emit() {
    const Operands &own = keepsKeys ? keys : queries, &other = keepsKeys ? queries : keys;
    int64_t blocks = (own.side.count + math->rows() - 1) / math->rows();
    // the longest work first: late queries, early keys
    Value place = mask.causal && !keepsKeys ? e.minus(e.i32(blocks - 1), e.block(0)) : e.block(0);
    batch = e.block(2), head = e.block(1), first = e.times(place, math->rows());
    ownA = shared.take(math->shape(math->rows(), sizes.d)), ownB = shared.take(math->shape(math->rows(), sizes.e));
    otherA = shared.take(math->shape(tile, sizes.d)), otherB = shared.take(math->shape(tile, sizes.e));
    scratch = shared.take(math->scratchBytes(tile));
    if (keepsKeys)
      tileLogSums = shared.take(tile * 4), tileDeltas = shared.take(tile * 4);
    AttentionVisibility visibility(e, *math, shared, mask, own.side, other.side, keepsKeys, tile);
    sees = &visibility;
    shared.reach(std::max(math->writeBytes(sizes.d, (keepsKeys ? dk : dq).element),
                          keepsKeys ? math->writeBytes(sizes.e, dv.element) : 0));
    visibility.begin(batch, first);
    for (const SharedRows &each : {ownA, ownB, otherA, otherB})
      math->clearPadding(each);
    math->fill(ownA, headRows(e, own.a, batch, head), first);
    math->fill(ownB, headRows(e, own.b, batch, head), first);
    if (!keepsKeys)
      readRows();
    walk(other);
    return {
        {}, {blocks, keepsKeys ? sizes.kv : sizes.heads(), sizes.b}, {AttentionMath::threads, 1, 1}, shared.bytes()};
  }

private:
  /// What one side has in global memory: q, dy or k, v; and its positions and documents.
  struct Operands {
    GlobalRows a, b;
    AttentionSide side;
  };
  /// Log-sum-exp and delta of this lane's rows, where these are queries.
  void readRows() {
    for (int64_t slot = 0; slot < math->rowSlots(); ++slot) {
      Value at = e.plus(e.times(e.plus(e.times(e.wide(batch), sizes.heads()), head), sizes.s),
                        e.least(e.plus(first, math->row(slot)), sizes.s - 1));
      rowLogSums.push_back(e.load(e.getF32Type(), e.address(e.getF32Type(), logSums, at), 4));
      rowDeltas.push_back(e.load(e.getF32Type(), e.address(e.getF32Type(), deltas, at), 4));
    }
  }
  Value otherHead(Value at) {
    return keepsKeys ? e.plus(e.times(head, sizes.g), e.over(at, sees->tiles())) : e.over(head, sizes.g);
  }
  Value firstRow(Value at) { return e.times(e.modulo(at, sees->tiles()), tile); }
  void fillA(const Operands &other, Value at) {
    math->fill(otherA, headRows(e, other.a, batch, otherHead(at)), firstRow(at));
    sees->fill(e.modulo(at, sees->tiles()));
    if (!keepsKeys)
      return;
    Value row = e.times(e.plus(e.times(e.wide(batch), sizes.heads()), otherHead(at)), sizes.s);
    math->fillVector(tileLogSums, tile, e.address(e.getF32Type(), logSums, row), firstRow(at), sizes.s);
    math->fillVector(tileDeltas, tile, e.address(e.getF32Type(), deltas, row), firstRow(at), sizes.s);
  }
  void fillB(const Operands &other, Value at) {
    math->fill(otherB, headRows(e, other.b, batch, otherHead(at)), firstRow(at));
  }

  void walk(const Operands &other) {
    int64_t steps = sees->tiles() * (keepsKeys ? sizes.g : 1);
    Value end = e.i32(steps);
    auto ifThere = [&](Value at, auto fill) { e.when(e.below(at, steps), [&] { (this->*fill)(other, at); }); };
    e.barrier(); // classes of tiles are there
    Value begin = sees->next(e.i32(0), end);
    ifThere(begin, &Backward::fillB);
    math->arrive();
    ifThere(begin, &Backward::fillA);
    int64_t sumsOfA = math->places(ownA.padded).size(), sumsOfB = keepsKeys ? math->places(ownB.padded).size() : 0;
    Values zeros(sumsOfA + sumsOfB, e.number(0));
    Values results = e.walk(begin, end, zeros, [&](Value at, ValueRange sums) {
      Values dweights = math->product(ownB, otherB);
      math->arrive(); // otherA
      Value next = sees->next(e.plus(at, 1), end);
      if (!keepsKeys)
        ifThere(next, &Backward::fillB);
      Values slopes, weights = findWeights(at, slopes), after{next};
      Values sumsB(sums.drop_front(sumsOfA));
      if (keepsKeys) {
        sumsB = math->addProduct(sumsB, weights, otherB, scratch);
        math->arrive(); // nothing; but otherB is read
        ifThere(next, &Backward::fillB);
      }
      after.append(math->addProduct(sums.take_front(sumsOfA), findSlopes(weights, dweights, slopes), otherA, scratch));
      after.append(sumsB);
      math->arrive(); // the next otherB; and otherA is read
      ifThere(next, &Backward::fillA);
      return after;
    });
    finish(ValueRange(results).slice(1, sumsOfA), ValueRange(results).drop_front(1 + sumsOfA));
  }

  /// `slopes`: of the cap; none if there is no cap.
  Values findWeights(Value at, Values &slopes) {
    Values logits = scores.logits(math->product(ownA, otherA), &slopes);
    logits = sees->masked(logits, e.modulo(at, sees->tiles()));
    Values logSumsOf = keepsKeys ? math->ofColumns(e.getF32Type(), tileLogSums, tile) : rowLogSums, weights;
    for (Value &each : logSumsOf)
      each = e.sub(e.number(0), each);
    for (auto [place, logit] : llvm::zip(math->places(tile), logits))
      weights.push_back(scores.weight(logit, logSumsOf[keepsKeys ? place.column : place.row]));
    return weights;
  }
  /// Derivatives by the products, without the scale.
  Values findSlopes(ValueRange weights, ValueRange dweights, ValueRange slopes) {
    Values deltasOf = keepsKeys ? math->ofColumns(e.getF32Type(), tileDeltas, tile) : rowDeltas, result;
    for (auto [i, place] : llvm::enumerate(math->places(tile))) {
      Value difference = e.sub(dweights[i], deltasOf[keepsKeys ? place.column : place.row]);
      Value slope = e.mul(weights[i], difference);
      result.push_back(slopes.empty() ? slope : e.mul(slope, slopes[i]));
    }
    return result;
  }
  void finish(ValueRange sumsA, ValueRange sumsB) {
    Values scaled;
    for (Value sum : sumsA)
      scaled.push_back(e.mul(sum, e.number(mask.scale)));
    write(keepsKeys ? dk : dq, scaled);
    if (keepsKeys)
      write(dv, sumsB);
  }
  void write(const GlobalRows &to, ValueRange values) {
    if (to.base) // else nobody reads it
      math->write(headRows(e, to, batch, head), first, values, shared.start());
  }

  AttentionEmit &e;
  bool keepsKeys;
  AttentionSizes sizes;
  AttentionMask mask;
  AttentionScores scores;
  SharedMemory shared;
  std::unique_ptr<AttentionMath> math;
  int64_t tile; ///< rows of the other side at once
  Operands queries, keys;
  GlobalRows dq, dk, dv;
  Value logSums, deltas;    ///< in the scratch
  Value batch, head, first; ///< of this block
  SharedRows ownA, ownB, otherA, otherB;
  Value scratch, tileLogSums, tileDeltas; ///< in shared memory
  Values rowLogSums, rowDeltas;
  AttentionVisibility *sees = nullptr;
};
} // namespace

Launch emitAttentionBackward(const AttentionFrame &frame, nn::AttentionGradOp op, bool keepsKeys) {
  return Backward(frame, op, keepsKeys).emit();
}
} // namespace hocket::cuda
