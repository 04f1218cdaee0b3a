// Matrix products against plain loops in f64: transposes, odd sizes, leading dimensions, batches, accumulation,
// threads, types.
#include "Conformance/GemmReference.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace hocket::runtime;
using namespace hocket::test;
namespace {

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
