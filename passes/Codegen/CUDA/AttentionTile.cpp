// See AttentionTile.h.
#include "passes/Codegen/CUDA/AttentionTile.h"
#include <limits>
using namespace mlir;
using Predicate = arith::CmpIPredicate;

namespace hocket::cuda {
Value SharedMemory::take(int64_t bytes) {
  Value part = e.address(e.getI8Type(), base, e.i32(used));
  used += alignedBytes(bytes);
  return part;
}
SharedRows SharedMemory::take(SharedRows shape) {
  shape.base = take(shape.rows * shape.stride * byteSize(shape.element));
  return shape;
}

// ---- who sees whom --------------------------------------------------------------------------------------------------
AttentionVisibility::AttentionVisibility(AttentionEmit &e, AttentionMath &math, SharedMemory &shared,
                                         const AttentionMask &mask, AttentionSide own, AttentionSide other,
                                         bool ownAreKeys, int64_t tile)
    : e(e), math(math), what(mask), own(own), other(other), ownAreKeys(ownAreKeys), tile(tile) {
  if (what.always())
    return;
  classes = shared.take(tiles());
  if (what.ordered())
    tilePositions = shared.take(tile * 4);
  if (what.documents)
    tileDocuments = shared.take(tile * 4);
}

AttentionVisibility::Range AttentionVisibility::rangeOf(Value numbers, Value first, int64_t rows, int64_t count) {
  Range range;
  for (int64_t done = 0; done < rows; done += 32) {
    Value index = e.least(e.plus(first, e.plus(e.lane(), done)), count - 1);
    Value number = e.load(e.getI32Type(), e.address(e.getI32Type(), numbers, index), 4);
    range.least = done ? e.join(Join::Least, range.least, number) : number;
    range.greatest = done ? e.join(Join::Greatest, range.greatest, number) : number;
  }
  return {e.butterfly(Join::Least, range.least, 1, 32), e.butterfly(Join::Greatest, range.greatest, 1, 32)};
}

void AttentionVisibility::begin(Value batch, Value first) {
  if (what.always())
    return;
  Type i32 = e.getI32Type();
  auto ofSequence = [&](Value numbers, int64_t count) {
    return numbers ? e.address(i32, numbers, e.times(e.wide(batch), count)) : Value();
  };
  for (AttentionSide *side : {&own, &other})
    *side = {ofSequence(side->positions, side->count), ofSequence(side->documents, side->count), side->count};
  auto ofRows = [&](Value numbers, Values &values) {
    for (int64_t slot = 0; slot < math.rowSlots(); ++slot)
      values.push_back(e.load(i32, e.address(i32, numbers, e.least(e.plus(first, math.row(slot)), own.count - 1)), 4));
  };
  if (what.ordered()) {
    ownPositionRange = rangeOf(own.positions, first, math.rows(), own.count);
    ofRows(own.positions, ownPositions);
  }
  if (what.documents) {
    ownDocumentRange = rangeOf(own.documents, first, math.rows(), own.count);
    ofRows(own.documents, ownDocuments);
  }
  e.loop(e.warp(), e.i32(tiles()), AttentionMath::warps, [&](Value tileIndex) {
    Value found = classOf(tileIndex);
    e.when(e.compare(Predicate::eq, e.lane(), e.i32(0)),
           [&] { e.store(found, e.address(e.getI8Type(), classes, tileIndex), 1); });
  });
}

Value AttentionVisibility::classOf(Value tileIndex) {
  Value first = e.times(tileIndex, tile), any, all;
  auto note = [&](Value some, Value every) { any = e.both(any, some), all = e.both(all, every); };
  if (what.ordered()) {
    Range range = rangeOf(other.positions, first, tile, other.count);
    const Range &queries = ownAreKeys ? range : ownPositionRange, &keys = ownAreKeys ? ownPositionRange : range;
    if (what.causal)
      note(e.compare(Predicate::sle, keys.least, queries.greatest),
           e.compare(Predicate::sle, keys.greatest, queries.least));
    if (what.window) { // in 64 bits: a difference of any two positions is one
      Value window = e.i64(what.window);
      note(e.compare(Predicate::slt, e.minus(e.wide(queries.least), e.wide(keys.greatest)), window),
           e.compare(Predicate::slt, e.minus(e.wide(queries.greatest), e.wide(keys.least)), window));
    }
  }
  if (what.documents) { // numbers of equal documents lie in both ranges
    Range range = rangeOf(other.documents, first, tile, other.count);
    note(e.both(e.compare(Predicate::sle, range.least, ownDocumentRange.greatest),
                e.compare(Predicate::sle, ownDocumentRange.least, range.greatest)),
         e.both(e.compare(Predicate::eq, range.least, ownDocumentRange.greatest),
                e.compare(Predicate::eq, ownDocumentRange.least, range.greatest)));
  }
  if (tails())
    all = e.both(all, e.compare(Predicate::ne, tileIndex, e.i32(tiles() - 1)));
  auto number = [&](Class value) { return arith::ConstantIntOp::create(e, value, 8); };
  return e.choose(any, e.choose(all, number(Wholly), number(Partly)), number(Unseen));
}

Value AttentionVisibility::next(Value i, Value end) {
  if (what.always())
    return i;
  auto loop = scf::WhileOp::create(e, i.getType(), i);
  OpBuilder::InsertionGuard guard(e);
  Value at = e.createBlock(&loop.getBefore(), {}, i.getType(), e.getLoc())->getArgument(0);
  Value inside = e.compare(Predicate::ult, at, end);
  Value known = e.choose(inside, at, e.i32(0)); // reads inside the table, even at the end
  Value address = e.address(e.getI8Type(), classes, e.modulo(known, tiles()));
  Value unseen =
      e.compare(Predicate::eq, e.load(e.getI8Type(), address, 1), arith::ConstantIntOp::create(e, Unseen, 8));
  scf::ConditionOp::create(e, e.both(inside, unseen), at);
  Value before = e.createBlock(&loop.getAfter(), {}, i.getType(), e.getLoc())->getArgument(0);
  scf::YieldOp::create(e, e.plus(before, 1));
  return loop.getResult(0);
}

void AttentionVisibility::fill(Value tileIndex) {
  if (what.always())
    return;
  Value first = e.times(tileIndex, tile);
  if (what.ordered())
    math.fillVector(tilePositions, tile, other.positions, first, other.count);
  if (what.documents)
    math.fillVector(tileDocuments, tile, other.documents, first, other.count);
}

Value AttentionVisibility::hasHoles(Value tileIndex) {
  if (what.always())
    return tails() ? e.compare(Predicate::eq, tileIndex, e.i32(tiles() - 1)) : Value();
  Value found = e.load(e.getI8Type(), e.address(e.getI8Type(), classes, tileIndex), 1);
  return e.compare(Predicate::eq, found, arith::ConstantIntOp::create(e, Partly, 8));
}

AttentionVisibility::Values AttentionVisibility::masked(ValueRange scores, Value tileIndex) {
  Value holes = hasHoles(tileIndex);
  return holes ? e.whenElse(holes, [&] { return mask(scores, tileIndex); }, scores) : Values(scores);
}

Value AttentionVisibility::sees(Value ownPosition, Value otherPosition, Value ownDocument, Value otherDocument) {
  Value query = ownAreKeys ? otherPosition : ownPosition, key = ownAreKeys ? ownPosition : otherPosition, seen;
  if (what.causal)
    seen = e.compare(Predicate::sle, key, query);
  if (what.window)
    seen = e.both(seen, e.compare(Predicate::slt, e.minus(e.wide(query), e.wide(key)), e.i64(what.window)));
  return what.documents ? e.both(seen, e.compare(Predicate::eq, ownDocument, otherDocument)) : seen;
}

AttentionVisibility::Values AttentionVisibility::mask(ValueRange scores, Value tileIndex) {
  Values positions, documents, there, result;
  if (what.ordered())
    positions = math.ofColumns(e.getI32Type(), tilePositions, tile);
  if (what.documents)
    documents = math.ofColumns(e.getI32Type(), tileDocuments, tile);
  Value first = e.times(tileIndex, tile);
  for (int64_t slot = 0; tails() && slot < math.columnSlots(tile); ++slot)
    there.push_back(e.below(e.plus(first, math.column(slot)), other.count));
  auto at = [](const Values &values, int64_t slot) { return values.empty() ? Value() : values[slot]; };
  Value unseen = e.number(-std::numeric_limits<double>::infinity());
  for (auto [place, score] : llvm::zip(math.places(tile), scores)) {
    Value seen = what.always() ? Value()
                               : sees(at(ownPositions, place.row), at(positions, place.column),
                                      at(ownDocuments, place.row), at(documents, place.column));
    result.push_back(e.choose(e.both(seen, at(there, place.column)), score, unseen));
  }
  return result;
}

// ---- scores ---------------------------------------------------------------------------------------------------------
AttentionScores::AttentionScores(AttentionEmit &e, const AttentionMask &mask)
    : e(e), scale(mask.scale), softcap(mask.softcap), sharp(softcap == 0 && scale > 0 ? scale * log2e : 1) {}

AttentionEmit::Values AttentionScores::logits(ValueRange products, AttentionEmit::Values *slopes) {
  AttentionEmit::Values result;
  if (sharp != 1) // a positive factor leaves the maximum where it is: weight() multiplies
    return AttentionEmit::Values(products);
  for (Value product : products) {
    if (softcap == 0) {
      result.push_back(e.mul(product, e.number(scale * log2e)));
      continue;
    }
    Value squashed = math::TanhOp::create(e, e.mul(product, e.number(scale / softcap)));
    result.push_back(e.mul(squashed, e.number(softcap * log2e)));
    if (slopes)
      slopes->push_back(e.mulAdd(e.sub(e.number(0), squashed), squashed, e.number(1)));
  }
  return result;
}

Value AttentionScores::weight(Value logit, Value negatedOffset) {
  Value exponent = sharp == 1 ? e.add(logit, negatedOffset) : e.mulAdd(logit, e.number(sharp), negatedOffset);
  return e.exp2(exponent);
}
} // namespace hocket::cuda
