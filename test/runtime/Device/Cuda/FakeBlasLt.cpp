// cublasLt made of loops, for tests: columns as its documentation has them, so that a wrong layout gives wrong numbers.
// The result of the heuristic must be handed back, and not be asked for again: asked counts.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Cuda/BlasLt.h"
#include <cstring>
#include <vector>

#ifndef FAKE_BLASLT_VERSION
#define FAKE_BLASLT_VERSION 130001
#endif

using namespace hocket::runtime;
using namespace hocket::runtime::cuda;

namespace {
struct Product {
  int transA = 0, transB = 0;
};
struct Layout {
  int type;
  int64_t rows, columns, leading, stride = 0;
  int count = 1;
};

float read(const Layout &layout, const void *from, int64_t i) {
  if (layout.type == blasF32)
    return static_cast<const float *>(from)[i];
  uint16_t bits = static_cast<const uint16_t *>(from)[i];
  return layout.type == blasF16 ? toFloat(Float16{bits}) : toFloat(BFloat16{bits});
}
void write(const Layout &layout, void *to, int64_t i, float value) {
  if (layout.type == blasF32)
    static_cast<float *>(to)[i] = value;
  else
    static_cast<uint16_t *>(to)[i] = layout.type == blasF16 ? toFloat16(value).bits : toBFloat16(value).bits;
}
} // namespace

extern "C" {
int fakeBlasLtAsked = 0;
int cublasLtCreate(Handle *handle) { return *handle = new int(), 0; }
int cublasLtDestroy(Handle handle) { return delete static_cast<int *>(handle), 0; }
size_t cublasLtGetVersion() { return FAKE_BLASLT_VERSION; }
const char *cublasLtGetStatusString(int) { return "an unsupported value or parameter was passed"; }
int cublasLtMatmulDescCreate(Handle *product, int compute, int scale) {
  return *product = new Product(), compute != 68 || scale;
}
int cublasLtMatmulDescDestroy(Handle product) { return delete static_cast<Product *>(product), 0; }
int cublasLtMatmulDescSetAttribute(Handle product, int attribute, const void *value, size_t) {
  auto &own = *static_cast<Product *>(product);
  std::memcpy(attribute == 3 ? &own.transA : &own.transB, value, 4);
  return attribute != 3 && attribute != 4;
}
int cublasLtMatrixLayoutCreate(Handle *layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  *layout = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading};
  return leading < static_cast<int64_t>(rows) ? 7 : 0;
}
int cublasLtMatrixLayoutDestroy(Handle layout) { return delete static_cast<Layout *>(layout), 0; }
int cublasLtMatrixLayoutSetAttribute(Handle layout, int attribute, const void *value, size_t bytes) {
  auto &own = *static_cast<Layout *>(layout);
  std::memcpy(attribute == 5 ? static_cast<void *>(&own.count) : &own.stride, value, bytes);
  return bytes != (attribute == 5 ? 4 : 8);
}
int cublasLtMatmulPreferenceCreate(Handle *preference) { return *preference = new int(), 0; }
int cublasLtMatmulPreferenceDestroy(Handle preference) { return delete static_cast<int *>(preference), 0; }
int cublasLtMatmulPreferenceSetAttribute(Handle, int attribute, const void *, size_t bytes) {
  return bytes != (attribute == 1 ? 8 : 4);
}
int cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, BlasHeuristic *chosen,
                                   int *found) {
  ++fakeBlasLtAsked;
  chosen->algorithm.data[0] = 42;
  return *found = 1, 0;
}
int cublasLtMatmul(Handle, Handle product, const void *alpha, const void *a, Handle layoutA, const void *b,
                   Handle layoutB, const void *beta, const void *c, Handle layoutC, void *d, Handle,
                   const BlasAlgorithm *algorithm, void *, size_t, Handle) {
  const auto &own = *static_cast<Product *>(product);
  const auto &A = *static_cast<Layout *>(layoutA), &B = *static_cast<Layout *>(layoutB),
             &C = *static_cast<Layout *>(layoutC);
  int64_t depth = own.transA ? A.rows : A.columns;
  if (algorithm->data[0] != 42 || depth != (own.transB ? B.columns : B.rows) ||
      (own.transA ? A.columns : A.rows) != C.rows)
    return 7;
  for (int64_t i = 0; i < C.count; ++i)
    for (int64_t row = 0; row < C.rows; ++row)
      for (int64_t column = 0; column < C.columns; ++column) {
        int64_t at = i * C.stride + column * C.leading + row;
        float sum = *static_cast<const float *>(beta) ? read(C, c, at) : 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += read(A, a, i * A.stride + (own.transA ? row * A.leading + k : k * A.leading + row)) *
                 read(B, b, i * B.stride + (own.transB ? k * B.leading + column : column * B.leading + k));
        write(C, d, at, *static_cast<const float *>(alpha) * sum);
      }
  return 0;
}
}
