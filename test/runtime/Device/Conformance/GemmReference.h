// Operands of matrix products and what plain loops in f64 make of them.
#ifndef HOCKET_TEST_RUNTIME_DEVICE_CONFORMANCE_GEMMREFERENCE_H
#define HOCKET_TEST_RUNTIME_DEVICE_CONFORMANCE_GEMMREFERENCE_H

#include "runtime/Comm/Half.h"
#include "runtime/Device/Gemm.h"
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace hocket::test {

using namespace hocket::runtime;

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
inline std::vector<double> expected(const Gemm &g, const Operands &o) {
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
inline Gemm make(int64_t m, int64_t n, int64_t k, int64_t batch, bool transA, bool transB, bool accumulate,
                 int64_t gap) {
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
inline double tolerance(const Gemm &g, double wanted) {
  double unit = g.resultType == GemmType::F32 ? 0 : g.resultType == GemmType::BF16 ? 0x1p-8 : 0x1p-11;
  return 1e-6 * static_cast<double>(g.k + 2) + unit * std::fabs(wanted);
}

} // namespace hocket::test
#endif
