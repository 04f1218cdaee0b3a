// Products of attention by tensor cores (see AttentionMath.h). Fragments are those of PTX ISA, "Matrix fragments for
// mma.m16n8k16": lane l of a warp has of a 16 x 8 result the rows l/4 and l/4 + 8 and the columns 2 (l mod 4) and the
// next. A result is the left operand of a next product as it lies, once rounded to 16 bits.
//
// Rows in shared memory are padded to an odd number of 16-byte units, so that the eight rows that ldmatrix reads at
// once lie in different banks.
#include "passes/Codegen/CUDA/AttentionMath.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t chunk = 8; ///< elements of 16 bits in what is copied at once, 16 bytes

class TensorCores : public AttentionMath {
public:
  TensorCores(AttentionEmit &e, Type element) : AttentionMath(e, 16), element(element) {
    lane = e.lane(), warp = e.warp();
    quad = e.modulo(lane, 4), group = e.over(lane, 4);
  }

  int64_t rowSlots() const override { return 2; }
  Value row(int64_t slot) override { return e.plus(e.plus(e.times(warp, 16), group), slot * 8); }
  int64_t columnSlots(int64_t columns) const override { return columns / 4; }
  Value column(int64_t slot) override { return e.plus(e.times(quad, 2), slot / 2 * 8 + slot % 2); }
  SmallVector<Place> places(int64_t columns) const override {
    SmallVector<Place> places;
    for (int64_t tile = 0; tile < columns / 8; ++tile)
      for (int64_t row : {0, 1})
        for (int64_t column : {0, 1})
          places.push_back({row, tile * 2 + column});
    return places;
  }
  Values ofColumns(Type type, Value shared, int64_t columns) override {
    Values values;
    for (int64_t tile = 0; tile < columns / 8; ++tile) {
      Value both = e.load(VectorType::get({2}, type), e.address(type, shared, column(tile * 2)), 8);
      values.append({e.elementOf(both, 0), e.elementOf(both, 1)});
    }
    return values;
  }
  Value joinRow(Join kind, Value value) override { return e.butterfly(kind, value, 1, 4); }
  Value firstOfRow() override { return e.compare(arith::CmpIPredicate::eq, quad, e.i32(0)); }

  SharedRows shape(int64_t rows, int64_t width) const override {
    int64_t padded = static_cast<int64_t>(llvm::alignTo(width, 16));
    return {element, Value(), rows, width, padded, padded + chunk};
  }
  int64_t scratchBytes(int64_t) const override { return 0; }
  void clearPadding(const SharedRows &to) override {
    if (to.padded == to.width)
      return;
    e.when(e.below(e.thread(), to.rows), [&] {
      Value zero = LLVM::ZeroOp::create(e, VectorType::get({chunk}, element));
      e.store(zero, at(to, e.thread(), e.i32(to.width)), 16);
    });
  }
  void fill(const SharedRows &to, const HeadRows &from, Value first) override;
  void fillVector(Value to, int64_t n, Value from, Value first, int64_t count) override {
    e.when(e.below(e.thread(), n), [&] {
      Value index = e.least(e.plus(first, e.thread()), count - 1);
      copy(e.address(e.getI32Type(), to, e.thread()), e.address(e.getI32Type(), from, index), 4);
    });
  }
  void arrive() override {
    NVVM::CpAsyncCommitGroupOp::create(e);
    NVVM::CpAsyncWaitGroupOp::create(e, 0u);
    e.barrier();
  }

  Values product(const SharedRows &a, const SharedRows &b) override;
  Values addProduct(ValueRange sums, ValueRange weights, const SharedRows &b, Value scratch) override;
  void write(const HeadRows &to, Value first, ValueRange values, Value shared) override;
  int64_t writeBytes(int64_t width, Type type) const override { return rows() * writeStride(width, type); }

private:
  Value at(const SharedRows &tile, Value row, Value column) {
    return e.address(tile.element, tile.base, e.plus(e.times(row, tile.stride), column));
  }
  void copy(Value to, Value from, int64_t bytes) {
    auto modifier = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
    NVVM::CpAsyncOp::create(e, to, from, static_cast<uint32_t>(bytes), modifier, Value());
  }
  /// Four 8 x 8 matrices of 16-bit elements, each turned if `turned`; each lane names a row.
  SmallVector<Value, 4> loadMatrices(Value address, bool turned);
  /// c + a b for 16 x 16 and 16 x 8 elements.
  SmallVector<Value, 4> multiply(ValueRange a, ValueRange b, ValueRange c);
  /// Values of two neighbouring columns as one operand register.
  Value packed(Value a, Value b);
  Value operand(Value bits) { ///< of 32 bits, as mma wants them
    return element.isF16() ? LLVM::BitcastOp::create(e, VectorType::get({2}, element), bits).getResult() : bits;
  }
  int64_t writeStride(int64_t width, Type type) const { ///< bytes, an odd number of 16-byte units
    int64_t units = static_cast<int64_t>(llvm::divideCeil(width * byteSize(type), 16));
    return (units | 1) * 16;
  }
  Type element;
  Value lane, warp, quad, group;
};

void TensorCores::fill(const SharedRows &to, const HeadRows &from, Value first) {
  // `perRow` threads copy a row; what is left of the block's threads rests
  int64_t perRow = to.width / chunk, atOnce = threads / perRow, count = from.rows->count;
  Value row = e.over(e.thread(), perRow), column = e.times(e.modulo(e.thread(), perRow), chunk);
  bool tails = count % to.rows != 0;
  for (int64_t done = 0; done < to.rows; done += atOnce) {
    Value in = e.plus(row, done);
    auto one = [&] {
      Value index = e.plus(first, in);
      Value offset = e.plus(e.times(e.wide(tails ? e.least(index, count - 1) : index), from.stride()), column);
      copy(at(to, in, column), e.address(element, from.rows->base, e.plus(from.first, offset)), 16);
    };
    int64_t here = std::min(atOnce, to.rows - done);
    if (here * perRow == threads)
      one();
    else
      e.when(e.below(e.thread(), here * perRow), one);
  }
}

SmallVector<Value, 4> TensorCores::loadMatrices(Value address, bool turned) {
  Type i32 = e.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(e.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8);
  Value all = NVVM::LdMatrixOp::create(e, type, address, 4, turned ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                       NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(operand(LLVM::ExtractValueOp::create(e, all, i)));
  return registers;
}

SmallVector<Value, 4> TensorCores::multiply(ValueRange a, ValueRange b, ValueRange c) {
  Type f32 = e.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(e.getContext(), {f32, f32, f32, f32});
  auto kind = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  Value all = NVVM::MmaOp::create(e, type, a, b, c, {16, 8, 16}, std::nullopt, std::nullopt,
                                  std::array<NVVM::MMATypes, 2>{kind, kind},
                                  std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value, 4> results;
  for (int64_t i = 0; i < 4; ++i)
    results.push_back(LLVM::ExtractValueOp::create(e, all, i));
  return results;
}

Value TensorCores::packed(Value a, Value b) {
  Value two = LLVM::FPTruncOp::create(e, VectorType::get({2}, element), e.pair(a, b));
  return element.isF16() ? two : LLVM::BitcastOp::create(e, e.getI32Type(), two).getResult();
}

AttentionMath::Values TensorCores::product(const SharedRows &a, const SharedRows &b) {
  SmallVector<SmallVector<Value, 4>> tiles(b.rows / 8, SmallVector<Value, 4>(4, e.number(0)));
  // left: rows lane mod 16 at columns 0 and 8; right: two tiles of eight rows, each at columns 0 and 8
  Value leftRow = e.plus(e.times(warp, 16), e.modulo(lane, 16)), leftColumn = e.times(e.over(lane, 16), 8);
  Value rightRow = e.plus(e.modulo(lane, 8), leftColumn), rightColumn = e.times(e.modulo(e.over(lane, 8), 2), 8);
  for (int64_t k = 0; k < a.padded; k += 16) {
    auto left = loadMatrices(at(a, leftRow, e.plus(leftColumn, k)), false);
    for (int64_t tile = 0; tile < b.rows / 8; tile += 2) {
      auto right = loadMatrices(at(b, e.plus(rightRow, tile * 8), e.plus(rightColumn, k)), false);
      tiles[tile] = multiply(left, ValueRange(right).take_front(2), tiles[tile]);
      tiles[tile + 1] = multiply(left, ValueRange(right).drop_front(2), tiles[tile + 1]);
    }
  }
  Values values;
  for (auto &tile : tiles)
    values.append(tile.begin(), tile.end());
  return values;
}

AttentionMath::Values TensorCores::addProduct(ValueRange sums, ValueRange weights, const SharedRows &b, Value) {
  Values result(sums.begin(), sums.end());
  Value row = e.modulo(lane, 16), column = e.times(e.over(lane, 16), 8);
  for (int64_t k = 0; k < b.rows; k += 16) {
    SmallVector<Value, 4> left;
    for (int64_t i = 0; i < 8; i += 2)
      left.push_back(packed(weights[k / 2 + i], weights[k / 2 + i + 1]));
    for (int64_t to = 0; to < b.padded; to += 16) {
      auto right = loadMatrices(at(b, e.plus(row, k), e.plus(column, to)), true);
      for (int64_t half : {0, 1}) {
        MutableArrayRef<Value> tile = MutableArrayRef<Value>(result).slice(to / 2 + half * 4, 4);
        llvm::copy(multiply(left, ValueRange(right).slice(half * 2, 2), ValueRange(tile)), tile.begin());
      }
    }
  }
  return result;
}

void TensorCores::write(const HeadRows &to, Value first, ValueRange values, Value shared) {
  // by way of shared memory, so that the global accesses are of 16 bytes, neighbours by neighbouring lanes
  Type type = to.rows->element, bytes = e.getI8Type();
  int64_t width = to.rows->width, size = byteSize(type), stride = writeStride(width, type), count = to.rows->count;
  e.barrier();
  for (int64_t tile = 0; tile < width / 8; ++tile)
    for (int64_t slot : {0, 1}) {
      Value two = e.pair(values[tile * 4 + slot * 2], values[tile * 4 + slot * 2 + 1]);
      if (!type.isF32())
        two = LLVM::FPTruncOp::create(e, VectorType::get({2}, type), two);
      Value offset = e.plus(e.times(row(slot), stride), e.times(column(tile * 2), size));
      e.store(two, e.address(bytes, shared, offset), 2 * size);
    }
  e.barrier();
  int64_t perRow = width * size / 16;
  Type unit = VectorType::get({4}, e.getI32Type());
  e.loop(e.thread(), e.i32(rows() * perRow), threads, [&](Value index) {
    Value in = e.over(index, perRow), column = e.times(e.modulo(index, perRow), 16), row = e.plus(first, in);
    e.when(e.below(row, count), [&] {
      Value value = e.load(unit, e.address(bytes, shared, e.plus(e.times(in, stride), column)), 16);
      Value start = e.plus(to.first, e.times(e.wide(row), to.stride()));
      Value address = e.address(type, to.rows->base, start);
      e.store(value, e.address(bytes, address, column), 16);
    });
  });
}
} // namespace

std::unique_ptr<AttentionMath> AttentionMath::tensorCores(AttentionEmit &e, Type element) {
  return std::make_unique<TensorCores>(e, element);
}
bool AttentionMath::hasTensorCores(Type element, int64_t d, int64_t e) {
  return (element.isBF16() || element.isF16()) && d % chunk == 0 && e % chunk == 0 && d <= 128 && e <= 128;
}
} // namespace hocket::cuda
