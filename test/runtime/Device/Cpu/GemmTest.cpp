// Matrix products against plain loops in f64: transposes, odd sizes, leading dimensions, batches, accumulation,
// threads.
#include "runtime/Device/Cpu/CpuDevice.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace {

struct Operands {
  std::vector<float> a, b, c;
  explicit Operands(const Gemm &g) {
    auto fill = [](std::vector<float> &x, size_t size, uint32_t state) {
      x.resize(size);
      for (float &value : x)
        value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 0x1p23f - 1;
    };
    fill(a, g.strideA * (g.batch - 1) + g.lda * (g.transA ? g.k : g.m), 1);
    fill(b, g.strideB * (g.batch - 1) + g.ldb * (g.transB ? g.n : g.k), 2);
    fill(c, g.strideC * (g.batch - 1) + g.ldc * g.m, 3);
  }
};

// What C must be; elements between rows and products keep their values.
std::vector<double> expected(const Gemm &g, const Operands &o) {
  std::vector<double> c(o.c.begin(), o.c.end());
  for (int64_t q = 0; q < g.batch; ++q)
    for (int64_t i = 0; i < g.m; ++i)
      for (int64_t j = 0; j < g.n; ++j) {
        double sum = g.accumulate ? c[q * g.strideC + i * g.ldc + j] : 0;
        for (int64_t k = 0; k < g.k; ++k)
          sum += double(o.a[q * g.strideA + (g.transA ? k * g.lda + i : i * g.lda + k)]) *
                 double(o.b[q * g.strideB + (g.transB ? j * g.ldb + k : k * g.ldb + j)]);
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

void check(ThreadPool &pool, const Gemm &g) {
  Operands o(g);
  std::vector<double> wanted = expected(g, o);
  Status status = cpuGemm(pool, g, o.a.data(), o.b.data(), o.c.data());
  ASSERT_TRUE(status) << status.error().message;
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(o.c[i], wanted[i], 1e-6 * static_cast<double>(g.k + 2))
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
  Operands first(g);
  ASSERT_TRUE(cpuGemm(pool, g, first.a.data(), first.b.data(), first.c.data()));
  for (int run = 0; run < 20; ++run) {
    Operands again(g);
    ASSERT_TRUE(cpuGemm(pool, g, again.a.data(), again.b.data(), again.c.data()));
    ASSERT_EQ(std::memcmp(first.c.data(), again.c.data(), first.c.size() * sizeof(float)), 0);
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
}

} // namespace
