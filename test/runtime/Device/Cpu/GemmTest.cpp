// Matrix products against plain loops in f64: transposes, odd sizes, leading dimensions, batches, accumulation,
// threads, types.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace {

// Numbers in memory as a product's type has them.
struct Matrix {
  GemmType type;
  std::vector<std::byte> bytes;

  void resize(size_t count) { bytes.resize(count * sizeBytes(type)); }
  size_t size() const { return bytes.size() / sizeBytes(type); }
  void set(size_t i, float value) {
    if (type == GemmType::F32)
      return put(i, value);
    put(i, type == GemmType::BF16 ? toBFloat16(value).bits : toFloat16(value).bits);
  }
  double operator[](size_t i) const {
    auto bits = [&] { return get<uint16_t>(i); };
    return type == GemmType::F32    ? get<float>(i)
           : type == GemmType::BF16 ? toFloat(BFloat16{bits()})
                                    : toFloat(Float16{bits()});
  }

private:
  template <class T> void put(size_t i, T value) { std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value); }
  template <class T> T get(size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
};

struct Operands {
  Matrix a, b, c;
  explicit Operands(const Gemm &g) : a{g.type, {}}, b{g.type, {}}, c{g.resultType, {}} {
    auto fill = [](Matrix &x, size_t size, uint32_t state) {
      x.resize(size);
      for (size_t i = 0; i < size; ++i)
        x.set(i, static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 0x1p23f - 1);
    };
    fill(a, g.strideA * (g.batch - 1) + g.lda * (g.transA ? g.k : g.m), 1);
    fill(b, g.strideB * (g.batch - 1) + g.ldb * (g.transB ? g.n : g.k), 2);
    fill(c, g.strideC * (g.batch - 1) + g.ldc * g.m, 3);
  }
};

// What C must be; elements between rows and products keep their values.
std::vector<double> expected(const Gemm &g, const Operands &o) {
  std::vector<double> c(o.c.size());
  for (size_t i = 0; i < c.size(); ++i)
    c[i] = o.c[i];
  for (int64_t q = 0; q < g.batch; ++q)
    for (int64_t i = 0; i < g.m; ++i)
      for (int64_t j = 0; j < g.n; ++j) {
        double sum = g.accumulate ? c[q * g.strideC + i * g.ldc + j] : 0;
        for (int64_t k = 0; k < g.k; ++k)
          sum += o.a[q * g.strideA + (g.transA ? k * g.lda + i : i * g.lda + k)] *
                 o.b[q * g.strideB + (g.transB ? j * g.ldb + k : k * g.ldb + j)];
        c[q * g.strideC + i * g.ldc + j] = sum;
      }
  return c;
}

// A product with `gap` unused elements after every row and every matrix.
Gemm make(int64_t m, int64_t n, int64_t k, int64_t batch, bool transA, bool transB, bool accumulate, int64_t gap) {
  Gemm g{transA, transB, accumulate, m, n, k};
  g.lda = (transA ? m : k) + gap;
  g.ldb = (transB ? k : n) + gap;
  g.ldc = n + gap;
  g.batch = batch;
  g.strideA = g.lda * (transA ? k : m) + gap;
  g.strideB = g.ldb * (transB ? n : k) + gap;
  g.strideC = g.ldc * m + gap;
  return g;
}

// A sum of f32 may be off by its roundings; a result of 16 bits by half a unit in its last place besides.
double tolerance(const Gemm &g, double wanted) {
  double unit = g.resultType == GemmType::F32 ? 0 : g.resultType == GemmType::BF16 ? 0x1p-8 : 0x1p-11;
  return 1e-6 * static_cast<double>(g.k + 2) + unit * std::fabs(wanted);
}

void check(ThreadPool &pool, const Gemm &g, BFloatProducts bfloat = bestBFloatProducts()) {
  Operands o(g);
  std::vector<double> wanted = expected(g, o);
  Status status = cpuGemm(pool, g, o.a.bytes.data(), o.b.bytes.data(), o.c.bytes.data(), bfloat);
  ASSERT_TRUE(status) << status.error().message;
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(o.c[i], wanted[i], tolerance(g, wanted[i]))
        << "element " << i << ", m " << g.m << " n " << g.n << " k " << g.k << " batch " << g.batch << " transA "
        << g.transA << " transB " << g.transB << " threads " << pool.threads();
}

TEST(Gemm, EqualsPlainLoops) {
  struct Shape {
    int64_t m, n, k, batch;
  };
  // The larger ones are cut over the threads: by rows, by columns, by products, by rows within products.
  Shape shapes[] = {{1, 1, 1, 1},     {5, 3, 7, 1},    {17, 33, 9, 3},   {211, 67, 93, 1},
                    {67, 211, 93, 1}, {65, 65, 65, 5}, {130, 100, 70, 2}};
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    for (Shape s : shapes)
      for (int bits = 0; bits < 8; ++bits)
        check(pool, make(s.m, s.n, s.k, s.batch, bits & 1, bits & 2, bits & 4, bits & 1 ? 3 : 0));
  }
}

// Each type with a result of its own type and of f32; bf16 also as a machine without instructions for it multiplies.
TEST(Gemm, SixteenBits) {
  struct Shape {
    int64_t m, n, k, batch;
  };
  // the last is more than one block of rows, of columns and of depth
  Shape shapes[] = {{1, 1, 1, 1}, {5, 3, 7, 1}, {17, 33, 9, 3}, {130, 100, 70, 2}, {257, 515, 520, 1}};
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (GemmType type : {GemmType::BF16, GemmType::F16})
      for (GemmType result : {GemmType::F32, type})
        for (Shape s : shapes)
          for (int bits = 0; bits < 8; bits += s.m > 256 ? 3 : 1) {
            if (s.m > 256 && threads == 1)
              continue; // plain loops take long
            Gemm g = make(s.m, s.n, s.k, s.batch, bits & 1, bits & 2, bits & 4, bits & 1 ? 3 : 0);
            g.type = type, g.resultType = result;
            check(pool, g);
            if (type == GemmType::BF16 && bestBFloatProducts() == BFloatProducts::Native)
              check(pool, g, BFloatProducts::Widened);
          }
  }
}

// Case F05: 256 + 1 is 256 in bf16. A sum of 256 and 300 ones is not: it is added up in f32 and rounded once.
TEST(Gemm, AddsSixteenBitsInF32) {
  ThreadPool pool(1);
  for (GemmType type : {GemmType::BF16, GemmType::F16})
    for (BFloatProducts way : {bestBFloatProducts(), BFloatProducts::Widened}) {
      Gemm g = make(1, 1, 301, 1, false, false, true, 0);
      g.type = g.resultType = type;
      Operands o(g);
      for (int64_t i = 0; i < g.k; ++i)
        o.a.set(i, i == 0 ? 256.0f : 1.0f), o.b.set(i, 1.0f);
      o.c.set(0, 256.0f);
      ASSERT_TRUE(cpuGemm(pool, g, o.a.bytes.data(), o.b.bytes.data(), o.c.bytes.data(), way));
      EXPECT_EQ(o.c[0], 812.0);
    }
}

TEST(Gemm, MayShareAnOperandInABatch) {
  ThreadPool pool(2);
  Gemm g = make(8, 9, 10, 4, false, true, true, 0);
  g.strideB = 0;
  check(pool, g);
}

TEST(Gemm, EmptySumIsZeroOrWhatWasThere) {
  ThreadPool pool(2);
  check(pool, make(5, 6, 0, 2, false, false, false, 2));
  check(pool, make(5, 6, 0, 2, false, false, true, 2));
  EXPECT_TRUE(cpuGemm(pool, make(0, 6, 3, 1, false, false, false, 1), nullptr, nullptr, nullptr));
}

TEST(Gemm, IsTheSameInEveryRun) {
  ThreadPool pool(3);
  Gemm g = make(129, 257, 255, 1, false, true, false, 0);
  for (GemmType type : {GemmType::F32, GemmType::BF16, GemmType::F16}) {
    g.type = type;
    Operands first(g);
    ASSERT_TRUE(cpuGemm(pool, g, first.a.bytes.data(), first.b.bytes.data(), first.c.bytes.data()));
    for (int run = 0; run < 10; ++run) {
      Operands again(g);
      ASSERT_TRUE(cpuGemm(pool, g, again.a.bytes.data(), again.b.bytes.data(), again.c.bytes.data()));
      ASSERT_TRUE(first.c.bytes == again.c.bytes);
    }
  }
}

TEST(Gemm, KeepsOpenMpToOneThread) {
  ThreadPool pool(2);
  check(pool, make(200, 200, 200, 1, false, false, false, 0));
  auto most = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  ASSERT_NE(most, nullptr);
  pool.parallelFor(2, [&](int64_t, int64_t) { EXPECT_EQ(most(), 1); });
}

TEST(Gemm, SaysWhatIsRefused) {
  ThreadPool pool(1);
  Gemm g = make(4, 4, 4, 1, true, false, false, 0);
  g.ldc = 3;
  float x[16] = {};
  Status status = cpuGemm(pool, g, x, x, x);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "oneDNN refuses the product m 4 n 4 k 4 lda 4 ldb 4 ldc 3 A transposed (status 2)");
  g.type = GemmType::F16;
  EXPECT_EQ(cpuGemm(pool, g, x, x, x).error().message,
            "oneDNN refuses the product of f16 as f32 m 4 n 4 k 4 lda 4 ldb 4 ldc 3 A transposed (status 2)");
}

} // namespace
