// Attention's forward pass as in FlashAttention-2 (Dao 2023, sections 3.1 and 3.2): a block keeps a tile of queries and
// walks over tiles of keys with a running maximum and sum; warps split the queries, so that no sum crosses warps.
//
// Keys and values have one buffer each. While a tile's scores are made its values are on their way, and while its
// weights are applied to the values the next tile's keys are: one of the two buffers is filled as the other is read,
// with half the shared memory of two whole stages, so that more blocks share a multiprocessor.
#include "passes/Codegen/CUDA/Attention.h"
#include <limits>
using namespace mlir;

namespace hocket::cuda {
namespace {
/// Stands for "no score yet": finite, so that the difference of two is no NaN; below any score of finite inputs that
/// matters.
constexpr double nothingSeen = -1e30;

class Forward {
public:
  using Values = AttentionEmit::Values;
  Forward(const AttentionFrame &frame, nn::AttentionOp op)
      : e(frame.e), sizes(op.getQ(), op.getK(), op.getV()), mask(op), scores(e, mask), shared(e, frame.shared) {
    AttentionForm form(frame, cast<RankedTensorType>(op.getQ().getType()).getElementType(), sizes);
    keys = form.streamedRows(false);
    math = std::move(form.math);
    q = globalRows(frame, op.getQ()), k = globalRows(frame, op.getK());
    v = globalRows(frame, op.getV()), y = globalRows(frame, op.getY());
    if (op.getLse())
      lse = frame.buffer(op.getLse());
    positions[0] = frame.buffer(op.getQPositions()), positions[1] = frame.buffer(op.getKPositions());
    for (auto [slot, each] : llvm::enumerate(op.getDocuments()))
      documents[slot] = frame.buffer(each);
  }

  Launch emit() {
    int64_t blocks = (sizes.s + math->rows() - 1) / math->rows();
    // later queries of a causal sequence see more keys: the longest work comes first
    Value tile = mask.causal ? e.minus(e.i32(blocks - 1), e.block(0)) : e.block(0);
    batch = e.block(2), head = e.block(1), first = e.times(tile, math->rows());
    SharedRows queryTile = shared.take(math->shape(math->rows(), sizes.d));
    keyTile = shared.take(math->shape(keys, sizes.d)), valueTile = shared.take(math->shape(keys, sizes.e));
    scratch = shared.take(math->scratchBytes(keys));
    AttentionVisibility visibility(e, *math, shared, mask, {positions[0], documents[0], sizes.s},
                                   {positions[1], documents[1], sizes.t}, false, keys);
    shared.reach(math->writeBytes(sizes.e, y.element));
    kHead = headRows(e, k, batch, e.over(head, sizes.g)), vHead = headRows(e, v, batch, e.over(head, sizes.g));

    visibility.begin(batch, first);
    for (const SharedRows &each : {queryTile, keyTile, valueTile})
      math->clearPadding(each);
    math->fill(queryTile, headRows(e, q, batch, head), first);
    e.barrier(); // classes of tiles are there
    Value end = e.i32(visibility.tiles()), begin = visibility.next(e.i32(0), end);
    e.when(e.below(begin, visibility.tiles()), [&] { fillKeys(visibility, begin); });
    Values results = e.walk(begin, end, start(), [&](Value at, ValueRange state) {
      math->arrive(); // keys
      math->fill(valueTile, vHead, e.times(at, keys));
      Values logits = visibility.masked(scores.logits(math->product(queryTile, keyTile), nullptr), at);
      math->arrive(); // values; and the keys are read
      Value next = visibility.next(e.plus(at, 1), end);
      e.when(e.below(next, visibility.tiles()), [&] { fillKeys(visibility, next); });
      Values after{next};
      after.append(step(logits, state));
      return after;
    });
    finish(ValueRange(results).drop_front());
    return {{}, {blocks, sizes.heads(), sizes.b}, {AttentionMath::threads, 1, 1}, shared.bytes()};
  }

private:
  void fillKeys(AttentionVisibility &visibility, Value tile) {
    math->fill(keyTile, kHead, e.times(tile, keys));
    visibility.fill(tile);
  }
  /// Running maxima and sums of this lane's rows, then its part of weights times values.
  Values start() {
    Values state(math->rowSlots(), e.number(nothingSeen));
    state.append(math->rowSlots() + math->places(valueTile.padded).size(), e.number(0));
    return state;
  }

  Values step(ValueRange logits, ValueRange state) {
    int64_t slots = math->rowSlots();
    Values maxima(state.take_front(slots)), sums(state.slice(slots, slots)), outputs(state.drop_front(2 * slots));
    auto places = math->places(keys);
    for (auto [place, logit] : llvm::zip(places, logits))
      maxima[place.row] = e.join(Join::Max, maxima[place.row], logit);
    Values shrink, negated;
    Value sharp = e.number(scores.sharpness());
    for (int64_t slot = 0; slot < slots; ++slot) {
      maxima[slot] = math->joinRow(Join::Max, maxima[slot]);
      shrink.push_back(e.exp2(e.mul(e.sub(state[slot], maxima[slot]), sharp)));
      negated.push_back(e.mul(maxima[slot], e.number(-scores.sharpness())));
      sums[slot] = e.mul(sums[slot], shrink[slot]);
    }
    Values weights;
    for (auto [place, logit] : llvm::zip(places, logits)) {
      weights.push_back(scores.weight(logit, negated[place.row]));
      sums[place.row] = e.add(sums[place.row], weights.back());
    }
    for (auto [place, output] : llvm::zip(math->places(valueTile.padded), outputs))
      output = e.mul(output, shrink[place.row]);
    outputs = math->addProduct(outputs, weights, valueTile, scratch);
    Values after(maxima);
    after.append(sums);
    after.append(outputs);
    return after;
  }

  void finish(ValueRange state) {
    int64_t slots = math->rowSlots();
    Values outputs(state.drop_front(2 * slots)), shares;
    for (int64_t slot = 0; slot < slots; ++slot) {
      Value total = math->joinRow(Join::Sum, state[slots + slot]);
      Value none = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, total, e.number(0));
      shares.push_back(LLVM::FDivOp::create(e, e.number(1), e.choose(none, e.number(1), total)));
      if (lse)
        writeLogSum(slot, state[slot], total, none);
    }
    for (auto [place, output] : llvm::zip(math->places(valueTile.padded), outputs))
      output = e.mul(output, shares[place.row]);
    math->write(headRows(e, y, batch, head), first, outputs, shared.start());
  }
  void writeLogSum(int64_t slot, Value maximum, Value total, Value none) {
    Value row = e.plus(first, math->row(slot));
    e.when(e.both(math->firstOfRow(), e.below(row, sizes.s)), [&] {
      Value powers = e.mulAdd(maximum, e.number(scores.sharpness()), math::Log2Op::create(e, total));
      Value logSum =
          e.choose(none, e.number(-std::numeric_limits<double>::infinity()), e.mul(powers, e.number(1 / log2e)));
      Value at = e.plus(e.times(e.plus(e.times(e.wide(batch), sizes.s), row), sizes.heads()), head);
      e.store(logSum, e.address(e.getF32Type(), lse, at), 4);
    });
  }

  AttentionEmit &e;
  AttentionSizes sizes;
  AttentionMask mask;
  AttentionScores scores;
  SharedMemory shared;
  std::unique_ptr<AttentionMath> math;
  int64_t keys; ///< of a tile
  GlobalRows q, k, v, y;
  HeadRows kHead, vHead;
  Value lse;                        ///< null if it is not asked for
  Value positions[2], documents[2]; ///< of queries and keys
  Value batch, head, first;         ///< of this block
  SharedRows keyTile, valueTile;
  Value scratch;
};
} // namespace

Launch emitAttentionForward(const AttentionFrame &frame, nn::AttentionOp op) { return Forward(frame, op).emit(); }
} // namespace hocket::cuda
