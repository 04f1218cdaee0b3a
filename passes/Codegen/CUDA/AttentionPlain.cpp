// Products of attention by fused multiply-adds on f32 (see AttentionMath.h): for f32 operands, and for 16-bit ones
// whose sizes tensor cores do not take. A warp owns eight rows; a lane has one column in 32 of each. Shared memory
// holds f32, rows padded to an odd number of 16-byte units, so that lanes that read one unit each of neighbouring rows
// meet no bank twice. A product reads 9 units for 32 multiply-adds: bound by shared memory, about a quarter of what the
// multipliers could do.
#include "passes/Codegen/CUDA/AttentionMath.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t lanes = 32, unit = 4; ///< f32 in 16 bytes

class Plain : public AttentionMath {
public:
  Plain(AttentionEmit &e) : AttentionMath(e, 8), f32(e.getF32Type()), four(VectorType::get({unit}, f32)) {
    lane = e.lane(), warp = e.warp();
  }

  int64_t rowSlots() const override { return rowsOfWarp; }
  Value row(int64_t slot) override { return e.plus(e.times(warp, rowsOfWarp), slot); }
  int64_t columnSlots(int64_t columns) const override { return static_cast<int64_t>(llvm::divideCeil(columns, lanes)); }
  Value column(int64_t slot) override { return e.plus(lane, slot * lanes); }
  SmallVector<Place> places(int64_t columns) const override {
    SmallVector<Place> places;
    for (int64_t column = 0; column < columnSlots(columns); ++column)
      for (int64_t row = 0; row < rowsOfWarp; ++row)
        places.push_back({row, column});
    return places;
  }
  Values ofColumns(Type type, Value shared, int64_t columns) override {
    Values values;
    for (int64_t slot = 0; slot < columnSlots(columns); ++slot)
      values.push_back(e.load(type, e.address(type, shared, column(slot)), 4));
    return values;
  }
  Value joinRow(Join kind, Value value) override { return e.butterfly(kind, value, 1, lanes); }
  Value firstOfRow() override { return e.compare(arith::CmpIPredicate::eq, lane, e.i32(0)); }

  SharedRows shape(int64_t rows, int64_t width) const override {
    // padded to whole lanes, so that every lane may read its columns
    int64_t padded = static_cast<int64_t>(llvm::alignTo(width, lanes));
    return {f32, Value(), rows, width, padded, padded + unit};
  }
  int64_t scratchBytes(int64_t columns) const override { return warps * rowsOfWarp * columns * 4; }
  void clearPadding(const SharedRows &to) override {
    int64_t extra = to.padded - to.width;
    if (extra == 0)
      return;
    e.loop(e.thread(), e.i32(to.rows * extra), threads, [&](Value index) {
      Value column = e.plus(e.modulo(index, extra), to.width);
      e.store(e.number(0), at(to, e.over(index, extra), column), 4);
    });
  }
  void fill(const SharedRows &to, const HeadRows &from, Value first) override {
    Type type = from.rows->element;
    e.loop(e.thread(), e.i32(to.rows * to.width), threads, [&](Value index) {
      Value row = e.over(index, to.width), column = e.modulo(index, to.width);
      Value offset = e.times(e.wide(e.least(e.plus(first, row), from.rows->count - 1)), from.stride());
      Value address = e.address(type, from.rows->base, e.plus(from.first, e.plus(offset, column)));
      e.store(e.widened(e.load(type, address, byteSize(type))), at(to, row, column), 4);
    });
  }
  void fillVector(Value to, int64_t n, Value from, Value first, int64_t count) override {
    Type i32 = e.getI32Type();
    e.when(e.below(e.thread(), n), [&] {
      Value index = e.least(e.plus(first, e.thread()), count - 1);
      e.store(e.load(i32, e.address(i32, from, index), 4), e.address(i32, to, e.thread()), 4);
    });
  }
  void arrive() override { e.barrier(); }

  Values product(const SharedRows &a, const SharedRows &b) override;
  Values addProduct(ValueRange sums, ValueRange weights, const SharedRows &b, Value scratch) override;
  void write(const HeadRows &to, Value first, ValueRange values, Value) override {
    // neighbouring lanes have neighbouring elements
    Type type = to.rows->element;
    for (auto [place, value] : llvm::zip(places(to.rows->width), values)) {
      Value in = e.plus(first, row(place.row)), there = column(place.column);
      Value inside = e.both(e.below(in, to.rows->count), e.below(there, to.rows->width));
      e.when(inside, [&, value = value] {
        Value offset = e.plus(e.plus(to.first, e.times(e.wide(in), to.stride())), there);
        e.store(e.narrowed(value, type), e.address(type, to.rows->base, offset), byteSize(type));
      });
    }
  }
  int64_t writeBytes(int64_t, Type) const override { return 0; }

private:
  Value at(const SharedRows &tile, Value row, Value column) {
    return e.address(f32, tile.base, e.plus(e.times(row, tile.stride), column));
  }
  Type f32;
  VectorType four;
  Value lane, warp;
};

AttentionMath::Values Plain::product(const SharedRows &a, const SharedRows &b) {
  SmallVector<Place> all = places(b.rows);
  Values zeros(all.size(), e.number(0));
  return e.loop(e.i32(0), e.i32(llvm::alignTo(a.width, unit)), unit, zeros, [&](Value k, ValueRange before) {
    Values left, right, after(before.begin(), before.end());
    for (int64_t slot = 0; slot < rowsOfWarp; ++slot)
      left.push_back(e.load(four, at(a, row(slot), k), 16));
    for (int64_t slot = 0; slot < columnSlots(b.rows); ++slot)
      right.push_back(e.load(four, at(b, column(slot), k), 16));
    for (int64_t i = 0; i < unit; ++i)
      for (auto [place, sum] : llvm::zip(all, after))
        sum = e.mulAdd(e.elementOf(left[place.row], i), e.elementOf(right[place.column], i), sum);
    return after;
  });
}

AttentionMath::Values Plain::addProduct(ValueRange sums, ValueRange weights, const SharedRows &b, Value scratch) {
  SmallVector<Place> all = places(b.padded);
  auto weightAt = [&](int64_t slot, Value column) {
    return e.address(f32, scratch, e.plus(e.times(row(slot), b.rows), column));
  };
  e.warpBarrier(); // what was there has been read
  for (auto [place, weight] : llvm::zip(places(b.rows), weights))
    e.store(weight, weightAt(place.row, column(place.column)), 4);
  e.warpBarrier();
  return e.loop(e.i32(0), e.i32(b.rows), unit, sums, [&](Value k, ValueRange before) {
    Values left, after(before.begin(), before.end());
    for (int64_t slot = 0; slot < rowsOfWarp; ++slot)
      left.push_back(e.load(four, weightAt(slot, k), 16));
    for (int64_t i = 0; i < unit; ++i) {
      Values right;
      for (int64_t slot = 0; slot < columnSlots(b.padded); ++slot)
        right.push_back(e.load(f32, at(b, e.plus(k, i), column(slot)), 4));
      for (auto [place, sum] : llvm::zip(all, after))
        sum = e.mulAdd(e.elementOf(left[place.row], i), right[place.column], sum);
    }
    return after;
  });
}
} // namespace

std::unique_ptr<AttentionMath> AttentionMath::plain(AttentionEmit &e) { return std::make_unique<Plain>(e); }
} // namespace hocket::cuda
