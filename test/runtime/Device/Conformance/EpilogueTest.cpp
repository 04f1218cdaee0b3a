// Every epilogue of a product against plain loops in f64: types, transposes, odd sizes, rows with gaps, accumulation.
// For devices that have epilogues.
#include "Conformance/GemmReference.h"
#include "Conformance/Subject.h"
#include <gtest/gtest.h>
#include <numbers>

namespace hocket::test {
namespace {

double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }
double geluDerivative(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

// What an epilogue has besides A, B and C.
struct Extras {
  Matrix bias, before, sum;
  explicit Extras(const Gemm &g) : bias{g.resultType, {}}, before{g.resultType, {}}, sum{g.resultType, {}} {
    auto fill = [](Matrix &x, int64_t size, double scale) {
      x.resize(static_cast<size_t>(size));
      for (size_t i = 0; i < x.size(); ++i)
        x.set(i, static_cast<float>(scale * std::sin(static_cast<double>(3 * i + 1))));
    };
    fill(bias, g.n, 1);
    fill(before, g.ldc * g.m, 2);
    fill(sum, std::max(g.m, g.n), 9); // to be overwritten
  }
};

// C, before and sum as they must be, in f64.
struct Wanted {
  std::vector<double> c, before, sum;
};

std::vector<double> valuesOf(const Matrix &matrix) {
  std::vector<double> values;
  for (size_t i = 0; i < matrix.size(); ++i)
    values.push_back(matrix[i]);
  return values;
}

Wanted wanted(const Gemm &g, const Operands &o, const Extras &extras) {
  Wanted w{expected(g, o), valuesOf(extras.before), valuesOf(extras.sum)};
  auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * g.ldc + j); };
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      double &c = w.c[at(i, j)];
      if (g.epilogue == GemmEpilogue::Bias || g.epilogue == GemmEpilogue::BiasGelu)
        c += extras.bias[static_cast<size_t>(j)];
      if (g.epilogue == GemmEpilogue::Gelu || g.epilogue == GemmEpilogue::BiasGelu)
        w.before[at(i, j)] = c, c = gelu(c);
      if (g.epilogue == GemmEpilogue::GeluGrad)
        c *= geluDerivative(extras.before[at(i, j)]);
    }
  for (int64_t i = 0; g.epilogue == GemmEpilogue::SumA && i < g.m; ++i) {
    w.sum[static_cast<size_t>(i)] = 0;
    for (int64_t k = 0; k < g.k; ++k)
      w.sum[static_cast<size_t>(i)] += o.a[static_cast<size_t>(g.transA ? k * g.lda + i : i * g.lda + k)];
  }
  for (int64_t j = 0; g.epilogue == GemmEpilogue::SumB && j < g.n; ++j) {
    w.sum[static_cast<size_t>(j)] = 0;
    for (int64_t k = 0; k < g.k; ++k)
      w.sum[static_cast<size_t>(j)] += o.b[static_cast<size_t>(g.transB ? j * g.ldb + k : k * g.ldb + j)];
  }
  return w;
}

void check(Device &device, Stream &stream, const Gemm &g) {
  Operands o(g);
  Extras extras(g);
  Wanted w = wanted(g, o, extras);
  Matrix *host[] = {&o.a, &o.b, &o.c, &extras.bias, &extras.before, &extras.sum};
  void *memory[6];
  for (int i = 0; i < 6; ++i) {
    memory[i] = *device.allocate(host[i]->bytes.size());
    ASSERT_TRUE(device.copy(stream, memory[i], host[i]->bytes.data(), host[i]->bytes.size()));
  }
  GemmBuffers buffers{memory[0], memory[1], memory[2]};
  buffers.bias = hasBias(g.epilogue) ? memory[3] : nullptr;
  buffers.before = hasBefore(g.epilogue) ? memory[4] : nullptr;
  buffers.sum = hasSum(g.epilogue) ? memory[5] : nullptr;
  Status ran = device.gemm(stream, g, buffers);
  ASSERT_TRUE(ran) << ran.error().message;
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(device.copy(stream, host[i]->bytes.data(), memory[i], host[i]->bytes.size()));
  ASSERT_TRUE(device.synchronize(stream));
  auto same = [&](const char *name, const Matrix &found, const std::vector<double> &want, double summands) {
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(found[i], want[i], summands * tolerance(g, 0) + tolerance(g, want[i]))
          << name << " element " << i << ", epilogue " << int(g.epilogue) << " type " << int(g.type) << " result "
          << int(g.resultType) << " m " << g.m << " n " << g.n << " k " << g.k << " transA " << g.transA << " transB "
          << g.transB << " accumulate " << g.accumulate;
  };
  same("C", o.c, w.c, 1);
  same("before", extras.before, w.before, 1);
  same("sum", extras.sum, w.sum, static_cast<double>(g.m));
  for (void *piece : memory)
    device.free(piece);
}

constexpr GemmEpilogue all[] = {GemmEpilogue::Bias,     GemmEpilogue::Gelu, GemmEpilogue::BiasGelu,
                                GemmEpilogue::GeluGrad, GemmEpilogue::SumA, GemmEpilogue::SumB};

TEST(Epilogues, EqualPlainLoops) {
  auto device = makeDevice(7);
  auto stream = *device->stream();
  struct Shape {
    int64_t m, n, k;
  };
  for (GemmEpilogue epilogue : all)
    for (GemmType type : {GemmType::F32, GemmType::BF16, GemmType::F16})
      for (GemmType result : {GemmType::F32, type})
        for (Shape shape : {Shape{1, 1, 1}, {5, 3, 7}, {17, 33, 9}, {32, 24, 40}})
          for (int bits = 0; bits < (mayAccumulate(epilogue) ? 8 : 4); ++bits) {
            Gemm g = make(shape.m, shape.n, shape.k, 1, bits & 1, bits & 2, bits & 4, bits & 1 ? 3 : 0);
            g.type = type, g.resultType = result, g.epilogue = epilogue;
            if (hasBefore(epilogue))
              g.ldc = (g.n + 7) / 8 * 8;
            check(*device, *stream, g);
          }
}

// What is handed to gelu is the sum in f32, not what is stored of it.
TEST(Epilogues, RoundOnce) {
  auto device = makeDevice(8);
  auto stream = *device->stream();
  Gemm g = make(1, 8, 2, 1, false, false, false, 0);
  g.type = g.resultType = GemmType::BF16, g.epilogue = GemmEpilogue::BiasGelu;
  Matrix a{g.type, {}}, b{g.type, {}}, c{g.type, {}}, bias{g.type, {}}, before{g.type, {}};
  a.resize(2), b.resize(16), c.resize(8), bias.resize(8), before.resize(8);
  for (size_t i = 0; i < 8; ++i)
    b.set(i, 4), b.set(8 + i, 0x1p-7f), bias.set(i, 0.0f);
  a.set(0, 1), a.set(1, 1); // 4 + 2^-7 is 4 in bf16, where numbers around 4 are 2^-5 apart
  bias.set(1, 0x1.8p-7f);   // 4 + 2.5 * 2^-7: rounded at once it is 4 + 2^-5, in two steps 4
  GemmBuffers buffers{a.bytes.data(), b.bytes.data(), c.bytes.data(), bias.bytes.data(), before.bytes.data()};
  ASSERT_TRUE(device->gemm(*stream, g, buffers));
  ASSERT_TRUE(device->synchronize(*stream));
  EXPECT_EQ(before[0], 4);
  EXPECT_EQ(before[1], 4 + 0x1p-5);
  g.epilogue = GemmEpilogue::Bias;
  ASSERT_TRUE(device->gemm(*stream, g, {buffers.a, buffers.b, buffers.c, buffers.bias}));
  ASSERT_TRUE(device->synchronize(*stream));
  EXPECT_EQ(c[0], 4);
  EXPECT_EQ(c[1], 4 + 0x1p-5);
}

} // namespace
} // namespace hocket::test
