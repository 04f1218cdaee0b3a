// cublasLt made of loops, for tests: columns as its documentation has them, so that a wrong layout gives wrong numbers.
// The result of the heuristic must be handed back, and not be asked for again: asked counts.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Cuda/BlasLt.h"
#include <cmath>
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
  uint32_t epilogue = 1;
  int biasType = -1, auxType = -1;
  int64_t auxLeading = 0;
  void *bias = nullptr, *aux = nullptr;
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
double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double dgelu(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

// The epilogues in the words of cublasLtEpilogue_t, here with its columns. What is not set, or not of D's type, is
// refused: the pointers and types that each needs are set and no others.
constexpr uint32_t bias = 4, geluAux = 160, geluAuxBias = 164, dGelu = 192, bGradA = 256, bGradB = 512;
bool writesAux(uint32_t epilogue) { return epilogue == geluAux || epilogue == geluAuxBias; }
bool hasVector(uint32_t epilogue) { return epilogue == bias || epilogue == geluAuxBias || epilogue >= bGradA; }
bool complete(const Product &own, const Layout &D) {
  bool aux = writesAux(own.epilogue) || own.epilogue == dGelu, vector = hasVector(own.epilogue);
  return (own.bias != nullptr) == vector && own.biasType == (vector ? D.type : -1) && (own.aux != nullptr) == aux &&
         own.auxType == (aux ? D.type : -1) && (aux ? own.auxLeading >= D.rows : own.auxLeading == 0);
}
// One element of D.
float finish(const Product &own, const Layout &D, int64_t row, int64_t column, float sum) {
  Layout aux{D.type, D.rows, D.columns, own.auxLeading};
  int64_t at = column * own.auxLeading + row;
  if (own.epilogue == bias || own.epilogue == geluAuxBias)
    sum += read(D, own.bias, row);
  if (writesAux(own.epilogue)) {
    write(aux, own.aux, at, sum);
    return static_cast<float>(gelu(sum));
  }
  return own.epilogue == dGelu ? sum * static_cast<float>(dgelu(read(aux, own.aux, at))) : sum;
}
// BGRADA: one number a row of D, the sum of op(A) over k; BGRADB: one a column.
void sumOperand(const Product &own, const Layout &layout, const void *from, bool isA, const Layout &D) {
  bool transposed = isA ? own.transA : own.transB, rowsAreK = isA == transposed;
  for (int64_t i = 0; i < (rowsAreK ? layout.columns : layout.rows); ++i) {
    float sum = 0;
    for (int64_t k = 0; k < (rowsAreK ? layout.rows : layout.columns); ++k)
      sum += read(layout, from, rowsAreK ? i * layout.leading + k : k * layout.leading + i);
    write(D, own.bias, i, sum);
  }
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
int cublasLtMatmulDescSetAttribute(Handle product, int attribute, const void *value, size_t bytes) {
  auto &own = *static_cast<Product *>(product);
  auto take = [&](auto &field) { return bytes == sizeof field ? std::memcpy(&field, value, bytes), 0 : 7; };
  switch (attribute) { // numbers of cublasLtMatmulDescAttributes_t
  case 3:
    return take(own.transA);
  case 4:
    return take(own.transB);
  case 7:
    return take(own.epilogue);
  case 8:
    return take(own.bias);
  case 11:
    return take(own.aux);
  case 12:
    return take(own.auxLeading);
  case 22:
    return take(own.auxType);
  case 26:
    return take(own.biasType);
  }
  return 7;
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
int cublasLtMatmulPreferenceCreate(Handle *preference) { return *preference = new int(7), 0; }
int cublasLtMatmulPreferenceDestroy(Handle preference) { return delete static_cast<int *>(preference), 0; }
int cublasLtMatmulPreferenceSetAttribute(Handle preference, int attribute, const void *value, size_t bytes) {
  if (attribute == 3)
    std::memcpy(preference, value, 4);
  return bytes != (attribute == 1 ? 8 : 4);
}
int cublasLtMatmulAlgoGetHeuristic(Handle, Handle product, Handle, Handle, Handle, Handle layoutD, Handle preference,
                                   int, BlasHeuristic *chosen, int *found) {
  ++fakeBlasLtAsked;
  const auto &own = *static_cast<Product *>(product);
  const auto &D = *static_cast<Layout *>(layoutD);
  int reductions = *static_cast<int *>(preference); // sums in the output type only where that is f32
  if (!complete(own, D) || (reductions & 4) || (D.type != blasF32 && (reductions & 1)))
    return 7;
  chosen->algorithm.data[0] = 42;
  return *found = own.auxLeading % 8 == 0, 0;
}
int cublasLtMatmul(Handle, Handle product, const void *alpha, const void *a, Handle layoutA, const void *b,
                   Handle layoutB, const void *beta, const void *c, Handle layoutC, void *d, Handle,
                   const BlasAlgorithm *algorithm, void *, size_t, Handle) {
  const auto &own = *static_cast<Product *>(product);
  const auto &A = *static_cast<Layout *>(layoutA), &B = *static_cast<Layout *>(layoutB),
             &C = *static_cast<Layout *>(layoutC);
  int64_t depth = own.transA ? A.rows : A.columns;
  if (algorithm->data[0] != 42 || depth != (own.transB ? B.columns : B.rows) ||
      (own.transA ? A.columns : A.rows) != C.rows || !complete(own, C) || (own.epilogue != 1 && C.count > 1))
    return 7;
  for (int64_t i = 0; i < C.count; ++i)
    for (int64_t row = 0; row < C.rows; ++row)
      for (int64_t column = 0; column < C.columns; ++column) {
        int64_t at = i * C.stride + column * C.leading + row;
        float sum = *static_cast<const float *>(beta) ? read(C, c, at) : 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += read(A, a, i * A.stride + (own.transA ? row * A.leading + k : k * A.leading + row)) *
                 read(B, b, i * B.stride + (own.transB ? k * B.leading + column : column * B.leading + k));
        sum = finish(own, C, row, column, *static_cast<const float *>(alpha) * sum);
        write(C, d, at, sum);
      }
  if (own.epilogue == bGradA || own.epilogue == bGradB)
    sumOperand(own, own.epilogue == bGradA ? A : B, own.epilogue == bGradA ? a : b, own.epilogue == bGradA, C);
  return 0;
}
}
