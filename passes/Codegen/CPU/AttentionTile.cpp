// See AttentionTile.h.
#include "passes/Codegen/CPU/AttentionTile.h"
#include <limits>
using namespace mlir;

namespace hocket::cpu {
namespace {
ArrayRef<int64_t> shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }
constexpr int64_t rowGroup = 8;
} // namespace

AttentionSizes::AttentionSizes(Value q, Value k, Value v)
    : b(shapeOf(q)[0]), s(shapeOf(q)[1]), t(shapeOf(k)[1]), kv(shapeOf(k)[2]),
      g(shapeOf(q).size() == 5 ? shapeOf(q)[3] : 1), d(shapeOf(q).back()), e(shapeOf(v).back()) {}

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
    e.storeVector(sums[i], c.base, targets[i], columns);
}

void AttentionTile::product(const Matrix &a, const Matrix &b, const Matrix &c, Value rows, Value depth, bool accumulate,
                            Value columns) {
  Value grouped = e.times(e.over(rows, rowGroup), rowGroup);
  e.loop(e.i64(0), grouped, rowGroup,
         [&](Value row) { productRows(a, b, c, row, rowGroup, depth, accumulate, columns); });
  e.loop(grouped, rows, 1, [&](Value row) { productRows(a, b, c, row, 1, depth, accumulate, columns); });
}

void AttentionTile::turn(Value from, Value offset, int64_t stride, int64_t count, Value to, Value lanesPresent) {
  e.loop(e.i64(0), e.i64(count), 1, [&](Value j) {
    e.storeVector(e.gather(f32, from, e.plus(offset, j), stride, lanesPresent), to, e.times(j, lanes), Value());
  });
}

void AttentionTile::beginQueries(Value batch, Value firstQuery) {
  present = sizes.s % lanes ? e.lanesBelow(e.minus(e.i64(sizes.s), firstQuery)) : Value();
  if (mask.always())
    return;
  Value at = e.plus(e.times(batch, sizes.s), firstQuery);
  queryPosition = e.loadVector(e.getI32Type(), qPositions, at, present);
  auto extreme = [&](double absent, bool greatest) {
    Value numbers = queryPosition;
    if (present)
      numbers = e.choose(present, numbers, e.number(absent, numbers.getType()));
    if (!greatest)
      numbers = e.sub(e.number(-1, numbers.getType()), numbers); // -1 - x turns the order around without overflow
    Value found = e.joinLanes(Reduction::Max, numbers);
    return greatest ? found : e.sub(e.number(-1, found.getType()), found);
  };
  greatestQuery = extreme(std::numeric_limits<int32_t>::min(), true);
  leastQuery = extreme(std::numeric_limits<int32_t>::max(), false);
}

Value AttentionTile::anySeen(Value batch, Value firstKey, Value endKey) {
  Value yes = e.number(1, e.getI1Type());
  if (mask.always())
    return yes;
  Type i32 = e.getI32Type();
  Value row = e.times(batch, sizes.t);
  SmallVector<Value> start = {e.number(std::numeric_limits<int32_t>::max(), i32),
                              e.number(std::numeric_limits<int32_t>::min(), i32)};
  SmallVector<Value> range = e.loop(firstKey, endKey, 1, start, [&](Value key, ValueRange before) {
    Value position = e.load(i32, kPositions, e.plus(row, key));
    return SmallVector<Value>{e.least(before[0], position), e.greatest(before[1], position)};
  });
  Value seen = yes;
  if (mask.causal)
    seen = e.both(seen, e.compare(arith::CmpIPredicate::sle, range[0], greatestQuery));
  if (mask.window) {
    Value distance = e.minus(e.widen(leastQuery), e.widen(range[1]));
    seen = e.both(seen, e.compare(arith::CmpIPredicate::slt, distance, e.i64(mask.window)));
  }
  return seen;
}

Value AttentionTile::sees(Value batch, Value key) {
  if (mask.always())
    return {};
  Value position = e.load(e.getI32Type(), kPositions, e.plus(e.times(batch, sizes.t), key));
  Value seen;
  if (mask.causal)
    seen = e.compare(arith::CmpIPredicate::sge, queryPosition, position);
  if (mask.window) {
    Value distance = e.sub(queryPosition, position);
    Value window = e.number(static_cast<double>(mask.window), distance.getType());
    seen = e.both(seen, e.compare(arith::CmpIPredicate::slt, distance, window));
  }
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
