// Matrix products where there is no vendor's library: what cublasLt promises, slowly.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include <cmath>

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

// Two numbers with which gelu(x) = x/2 (1 + tanh(scale (x + cubic x^3))).
constexpr float scale = 0.7978845608f, cubic = 0.044715f;

float gelu(float x) { return 0.5f * x * (1 + std::tanh(scale * (x + cubic * x * x * x))); }

float geluDerivative(float x) {
  float t = std::tanh(scale * (x + cubic * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * scale * (1 + 3 * cubic * x * x);
}

// What becomes of one row of the product, of which `begin` is the first element of C.
void finishRow(const Gemm &gemm, const GemmBuffers &buffers, int64_t begin, std::vector<float> &row) {
  for (int64_t n = 0; n < gemm.n; ++n) {
    float &value = row[static_cast<size_t>(n)];
    if (hasBias(gemm.epilogue))
      value += read(buffers.bias, n, gemm.resultType);
    if (writesBefore(gemm.epilogue)) {
      write(buffers.before, begin + n, gemm.resultType, value);
      value = gelu(value);
    } else if (hasBefore(gemm.epilogue)) {
      value *= geluDerivative(read(buffers.before, begin + n, gemm.resultType));
    }
  }
}

// Of op(A) over its columns or of op(B) over its rows.
void sumOperand(const Gemm &gemm, const GemmBuffers &buffers, std::vector<float> &sum) {
  bool ofA = gemm.epilogue == GemmEpilogue::SumA;
  const void *from = ofA ? buffers.a : buffers.b;
  int64_t leading = ofA ? gemm.lda : gemm.ldb;
  bool rowsAreK = ofA ? gemm.transA : !gemm.transB;
  for (int64_t k = 0; k < gemm.k; ++k)
    for (size_t i = 0; i < sum.size(); ++i) {
      auto at = static_cast<int64_t>(i);
      sum[i] += read(from, rowsAreK ? k * leading + at : at * leading + k, gemm.type);
    }
}

// Rows of a matrix as they lie in memory, `leading` elements from one to the next.
void addRows(std::vector<Touch> &found, const void *base, int64_t rows, int64_t columns, int64_t leading, GemmType type,
             bool writes) {
  const auto *at = static_cast<const std::byte *>(base);
  auto bytes = [type](int64_t elements) { return static_cast<size_t>(elements * sizeBytes(type)); };
  if (rows == 0 || columns == 0)
    return;
  if (leading == columns) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t row = 0; row < rows; ++row)
    found.push_back({at + bytes(row * leading), bytes(columns), writes});
}

} // namespace

std::vector<Touch> touchedBy(const Gemm &gemm, const GemmBuffers &buffers) {
  std::vector<Touch> found;
  auto add = [&](const void *base, int64_t stride, bool transposed, int64_t rows, int64_t columns, int64_t leading,
                 GemmType type, bool writes) {
    for (int64_t i = 0; i < gemm.batch; ++i)
      addRows(found, static_cast<const std::byte *>(base) + i * stride * sizeBytes(type), transposed ? columns : rows,
              transposed ? rows : columns, leading, type, writes);
  };
  add(buffers.a, gemm.strideA, gemm.transA, gemm.m, gemm.k, gemm.lda, gemm.type, false);
  add(buffers.b, gemm.strideB, gemm.transB, gemm.k, gemm.n, gemm.ldb, gemm.type, false);
  if (hasBias(gemm.epilogue))
    addRows(found, buffers.bias, 1, gemm.n, gemm.n, gemm.resultType, false);
  if (hasBefore(gemm.epilogue))
    addRows(found, buffers.before, gemm.m, gemm.n, gemm.ldc, gemm.resultType, writesBefore(gemm.epilogue));
  if (hasSum(gemm.epilogue)) {
    int64_t length = gemm.epilogue == GemmEpilogue::SumA ? gemm.m : gemm.n;
    addRows(found, buffers.sum, 1, length, length, gemm.resultType, true);
  }
  add(buffers.c, gemm.strideC, false, gemm.m, gemm.n, gemm.ldc, gemm.resultType, true);
  return found;
}

void plainGemm(const Gemm &gemm, const GemmBuffers &buffers) {
  const void *a = buffers.a, *b = buffers.b;
  void *c = buffers.c;
  if (!gemm.m || !gemm.n)
    return;
  std::vector<float> wideB(static_cast<size_t>(gemm.k * gemm.n)), row(static_cast<size_t>(gemm.n));
  std::vector<float> sum(static_cast<size_t>(gemm.epilogue == GemmEpilogue::SumA ? gemm.m : gemm.n));
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
      finishRow(gemm, buffers, begin, row);
      for (int64_t n = 0; n < gemm.n; ++n)
        write(c, begin + n, gemm.resultType, row[static_cast<size_t>(n)]);
    }
  }
  if (hasSum(gemm.epilogue))
    sumOperand(gemm, buffers, sum);
  for (size_t i = 0; hasSum(gemm.epilogue) && i < sum.size(); ++i)
    write(buffers.sum, static_cast<int64_t>(i), gemm.resultType, sum[i]);
}

} // namespace hocket::runtime::emulator
