// A matrix product, as the program file describes it.
#ifndef HOCKET_RUNTIME_DEVICE_GEMM_H
#define HOCKET_RUNTIME_DEVICE_GEMM_H

#include <cstdint>

namespace hocket::runtime {

enum class GemmType : uint8_t { F32, BF16, F16 };

// What is done with the product P = op(A) op(B) before it is stored (program.fbs, Epilogue; the same values). With
// gelu(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), in f32 whatever the types are:
//   Bias      C = P + bias
//   Gelu      before = P, C = gelu(before), taken before `before` is rounded
//   BiasGelu  before = P + bias, C = gelu(before), taken before `before` is rounded
//   GeluGrad  C = P gelu'(before)
//   SumA      C as without (accumulate too); sum[m] = op(A) summed over k
//   SumB      C as without (accumulate too); sum[n] = op(B) summed over k
// Only the last two accumulate, and none has a batch. bias[n] and sum hold resultType without gaps; before[m,n] does
// with ldc between its rows. cublasLt: CUBLASLT_EPILOGUE_BIAS, _GELU_AUX, _GELU_AUX_BIAS, _DGELU, _BGRADA, _BGRADB.
enum class GemmEpilogue : uint8_t { None, Bias, Gelu, BiasGelu, GeluGrad, SumA, SumB };

// Row-major: for each i < batch, C_i[m,n] = op(A_i) op(B_i), plus C_i before if `accumulate`.
// op(A) is [m,k]: A is stored as [m,k] with lda >= k, or, transposed, as [k,m] with lda >= m.
// op(B) is [k,n]: B is stored as [k,n] with ldb >= n, or, transposed, as [n,k] with ldb >= k. C: ldc >= n.
// Leading dimensions and strides (from X_i to X_{i+1}) are elements. C_i do not overlap; a stride of A or B may be 0.
// A and B hold `type`, C `resultType`: f32 or `type`. Sums are f32, with C before among the summands, whatever the
// types are; C is rounded once, when its sum is complete (to nearest, ties to even).
struct Gemm {
  bool transA = false, transB = false, accumulate = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0;
  GemmType type = GemmType::F32, resultType = GemmType::F32;
  GemmEpilogue epilogue = GemmEpilogue::None;
};

// Where the matrices lie. The last three are what the epilogue has of them, null otherwise.
struct GemmBuffers {
  const void *a = nullptr, *b = nullptr;
  void *c = nullptr;
  const void *bias = nullptr;
  void *before = nullptr; // written by Gelu and BiasGelu, read by GeluGrad
  void *sum = nullptr;    // written
};

constexpr int64_t sizeBytes(GemmType type) { return type == GemmType::F32 ? 4 : 2; }
constexpr bool hasBias(GemmEpilogue e) { return e == GemmEpilogue::Bias || e == GemmEpilogue::BiasGelu; }
constexpr bool hasBefore(GemmEpilogue e) { return e >= GemmEpilogue::Gelu && e <= GemmEpilogue::GeluGrad; }
constexpr bool writesBefore(GemmEpilogue e) { return e == GemmEpilogue::Gelu || e == GemmEpilogue::BiasGelu; }
constexpr bool hasSum(GemmEpilogue e) { return e >= GemmEpilogue::SumA; }
constexpr bool mayAccumulate(GemmEpilogue e) { return e == GemmEpilogue::None || hasSum(e); }

} // namespace hocket::runtime
#endif
