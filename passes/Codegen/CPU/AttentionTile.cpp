// See AttentionTile.h.
#include "passes/Codegen/CPU/AttentionTile.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <tuple>
using namespace mlir;

namespace hocket::cpu {
static constexpr int64_t rowGroup = 8;

Rows AttentionTile::rowsOf(Value tensor, Value buffer) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t width = type.getShape().back(), heads = 1;
  for (int64_t extent : type.getShape().drop_front(2).drop_back())
    heads *= extent;
  return {type.getElementType(), buffer, Value(), heads * width, width};
}

void AttentionTile::productRows(const Matrix &a, const Matrix &b, const Matrix &c, Value firstRow, int64_t count,
                                Value depth, bool accumulate, Value columns) {
  SmallVector<Value> start, rowOffsets, targets;
  for (int64_t i = 0; i < count; ++i) {
    Value row = e.plus(firstRow, i);
    rowOffsets.push_back(e.plus(a.offset, e.times(row, a.rowStride)));
    targets.push_back(e.plus(c.offset, e.times(row, c.rowStride)));
    start.push_back(accumulate ? e.loadVector(f32, c.base, targets.back(), columns) : e.number(0, e.vectorOf(f32)));
  }
  SmallVector<Value> sums = e.loop(e.i64(0), depth, 1, start, [&](Value k, ValueRange before) {
    Value right = e.loadVector(f32, b.base, e.plus(b.offset, e.times(k, b.rowStride)), columns);
    Value along = e.times(k, a.columnStride);
    SmallVector<Value> after;
    for (int64_t i = 0; i < count; ++i)
      after.push_back(e.mulAdd(e.load(f32, a.base, e.plus(rowOffsets[i], along)), right, before[i]));
    return after;
  });
  for (int64_t i = 0; i < count; ++i)
    e.storeVector(f32, sums[i], c.base, targets[i], columns);
}

void AttentionTile::product(const Matrix &a, const Matrix &b, const Matrix &c, Value rows, Value depth, bool accumulate,
                            Value columns) {
  Value grouped = e.times(e.over(rows, rowGroup), rowGroup);
  e.loop(e.i64(0), grouped, rowGroup,
         [&](Value row) { productRows(a, b, c, row, rowGroup, depth, accumulate, columns); });
  e.loop(grouped, rows, 1, [&](Value row) { productRows(a, b, c, row, 1, depth, accumulate, columns); });
}

void AttentionTile::turn(const Matrix &from, int64_t count, Value to) {
  e.loop(e.i64(0), e.i64(count), 1, [&](Value j) {
    Value column = e.gather(f32, from.base, e.plus(from.offset, j), from.rowStride, present);
    e.storeVector(f32, column, to, e.times(j, lanes), Value());
  });
}

void AttentionTile::turnBack(Value from, const Rows &to, Value scratch) {
  bool narrow = isNarrow(to.element);
  Value base = narrow ? scratch : to.base, offset = narrow ? e.i64(0) : to.offset;
  int64_t padded = llvm::alignTo(to.width, lanes);
  e.loop(e.i64(0), e.i64(to.width), 1, [&](Value j) {
    Value column = e.loadVector(f32, from, e.times(j, lanes), Value());
    e.scatter(f32, column, base, e.plus(offset, j), narrow ? padded : to.stride, present);
  });
  if (!narrow)
    return;
  e.loop(e.i64(0), queryCount, 1, [&](Value row) {
    for (int64_t column = 0; column < to.width; column += lanes) {
      Value there = to.width - column < lanes ? e.lanesBelow(e.i64(to.width - column)) : Value();
      Value value = e.loadVector(f32, scratch, e.plus(e.times(row, padded), column), Value());
      e.storeVector(to.element, value, to.base, e.plus(e.plus(to.offset, e.times(row, to.stride)), column), there);
    }
  });
}

Value AttentionTile::scratchRows(Type element, int64_t rows, int64_t width) {
  return isNarrow(element) ? e.stackArray(f32, rows * static_cast<int64_t>(llvm::alignTo(width, lanes))) : Value();
}

Matrix AttentionTile::widened(const Rows &rows, Value count, Value scratch) {
  if (!isNarrow(rows.element))
    return {rows.base, rows.offset, rows.stride, 1};
  int64_t padded = llvm::alignTo(rows.width, lanes);
  e.loop(e.i64(0), count, 1, [&](Value row) {
    for (int64_t column = 0; column < rows.width; column += lanes) {
      Value there = rows.width - column < lanes ? e.lanesBelow(e.i64(rows.width - column)) : Value();
      Value from = e.plus(e.plus(rows.offset, e.times(row, rows.stride)), column);
      e.storeVector(f32, e.loadVector(rows.element, rows.base, from, there), scratch,
                    e.plus(e.times(row, padded), column), Value());
    }
  });
  return {scratch, e.i64(0), padded, 1};
}

void AttentionTile::beginQueries(Value batch, Value firstQuery) {
  queryCount = e.least(e.i64(lanes), e.minus(e.i64(sizes.s), firstQuery));
  present = sizes.s % lanes ? e.lanesBelow(queryCount) : Value();
  if (mask.always())
    return;
  Value at = e.plus(e.times(batch, sizes.s), firstQuery);
  queryPosition = e.loadVector(e.getI32Type(), qPositions, at, present);
  std::tie(leastQuery, greatestQuery) = rangeOf(queryPosition);
  if (!mask.documents)
    return;
  queryDocument = e.loadVector(e.getI32Type(), qDocuments, at, present);
  std::tie(leastDocument, greatestDocument) = rangeOf(queryDocument);
}

std::pair<Value, Value> AttentionTile::rangeOf(Value numbers) {
  auto extreme = [&](double absent, bool greatest) {
    Value lanesThere = numbers;
    if (present)
      lanesThere = e.choose(present, numbers, e.number(absent, numbers.getType()));
    if (!greatest) // -1 - x turns the order around without overflow
      lanesThere = e.sub(e.number(-1, lanesThere.getType()), lanesThere);
    Value found = e.joinLanes(Reduction::Max, lanesThere);
    return greatest ? found : e.sub(e.number(-1, found.getType()), found);
  };
  Value greatest = extreme(std::numeric_limits<int32_t>::min(), true);
  return {extreme(std::numeric_limits<int32_t>::max(), false), greatest};
}

std::pair<Value, Value> AttentionTile::rangeOf(Value buffer, Value first, Value end) {
  Type i32 = e.getI32Type();
  SmallVector<Value> start = {e.number(std::numeric_limits<int32_t>::max(), i32),
                              e.number(std::numeric_limits<int32_t>::min(), i32)};
  SmallVector<Value> range = e.loop(first, end, 1, start, [&](Value at, ValueRange before) {
    Value number = e.load(i32, buffer, at);
    return SmallVector<Value>{e.least(before[0], number), e.greatest(before[1], number)};
  });
  return {range[0], range[1]};
}

Value AttentionTile::anySeen(Value batch, Value firstKey, Value endKey) {
  Value yes = e.number(1, e.getI1Type());
  if (mask.always())
    return yes;
  Value row = e.times(batch, sizes.t), first = e.plus(row, firstKey), end = e.plus(row, endKey), seen = yes;
  if (mask.causal || mask.window) {
    auto [least, greatest] = rangeOf(kPositions, first, end);
    if (mask.causal)
      seen = e.both(seen, e.compare(arith::CmpIPredicate::sle, least, greatestQuery));
    if (mask.window) {
      Value distance = e.minus(e.widen(leastQuery), e.widen(greatest));
      seen = e.both(seen, e.compare(arith::CmpIPredicate::slt, distance, e.i64(mask.window)));
    }
  }
  if (mask.documents) { // numbers of equal documents lie in both ranges
    auto [least, greatest] = rangeOf(kDocuments, first, end);
    seen = e.both(seen, e.compare(arith::CmpIPredicate::sle, least, greatestDocument));
    seen = e.both(seen, e.compare(arith::CmpIPredicate::sle, leastDocument, greatest));
  }
  return seen;
}

Value AttentionTile::sees(Value batch, Value key) {
  if (mask.always())
    return {};
  Value at = e.plus(e.times(batch, sizes.t), key), seen;
  if (mask.causal || mask.window) {
    Value position = e.load(e.getI32Type(), kPositions, at);
    if (mask.causal)
      seen = e.compare(arith::CmpIPredicate::sge, queryPosition, position);
    if (mask.window) {
      Value distance = e.sub(queryPosition, position);
      Value window = e.number(static_cast<double>(mask.window), distance.getType());
      seen = e.both(seen, e.compare(arith::CmpIPredicate::slt, distance, window));
    }
  }
  if (mask.documents)
    seen = e.both(seen, e.compare(arith::CmpIPredicate::eq, queryDocument, e.load(e.getI32Type(), kDocuments, at)));
  return seen;
}

Value AttentionTile::score(Value product) {
  Type type = product.getType();
  if (mask.softcap == 0)
    return e.mul(product, e.number(mask.scale, type));
  Value squashed = math::TanhOp::create(e, e.mul(product, e.number(mask.scale / mask.softcap, type)));
  return e.mul(squashed, e.number(mask.softcap, type));
}
} // namespace hocket::cpu
