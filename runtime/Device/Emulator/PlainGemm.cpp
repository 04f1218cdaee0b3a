// Matrix products where there is no vendor's library: what cublasLt promises, slowly.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include <cstring>

namespace hocket::runtime::emulator {

namespace {

float read(const void *from, int64_t i, GemmType type) {
  if (type == GemmType::F32)
    return static_cast<const float *>(from)[i];
  uint16_t bits = static_cast<const uint16_t *>(from)[i];
  return type == GemmType::BF16 ? toFloat(BFloat16{bits}) : toFloat(Float16{bits});
}

void write(void *to, int64_t i, GemmType type, float value) {
  if (type == GemmType::F32)
    static_cast<float *>(to)[i] = value;
  else
    static_cast<uint16_t *>(to)[i] = type == GemmType::BF16 ? toBFloat16(value).bits : toFloat16(value).bits;
}

} // namespace

void plainGemm(const Gemm &gemm, const void *a, const void *b, void *c) {
  if (!gemm.m || !gemm.n)
    return;
  std::vector<float> wideB(static_cast<size_t>(gemm.k * gemm.n)), row(static_cast<size_t>(gemm.n));
  for (int64_t i = 0; i < gemm.batch; ++i) {
    for (int64_t k = 0; k < gemm.k; ++k)
      for (int64_t n = 0; n < gemm.n; ++n)
        wideB[static_cast<size_t>(k * gemm.n + n)] =
            read(b, i * gemm.strideB + (gemm.transB ? n * gemm.ldb + k : k * gemm.ldb + n), gemm.type);
    for (int64_t m = 0; m < gemm.m; ++m) {
      int64_t begin = i * gemm.strideC + m * gemm.ldc;
      for (int64_t n = 0; n < gemm.n; ++n)
        row[static_cast<size_t>(n)] = gemm.accumulate ? read(c, begin + n, gemm.resultType) : 0;
      for (int64_t k = 0; k < gemm.k; ++k) {
        float x = read(a, i * gemm.strideA + (gemm.transA ? k * gemm.lda + m : m * gemm.lda + k), gemm.type);
        const float *y = &wideB[static_cast<size_t>(k * gemm.n)];
        for (size_t n = 0; n < row.size(); ++n)
          row[n] += x * y[n];
      }
      for (int64_t n = 0; n < gemm.n; ++n)
        write(c, begin + n, gemm.resultType, row[static_cast<size_t>(n)]);
    }
  }
}

} // namespace hocket::runtime::emulator
