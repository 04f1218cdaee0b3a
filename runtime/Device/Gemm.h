// A matrix product, as the program file describes it.
#ifndef HOCKET_RUNTIME_DEVICE_GEMM_H
#define HOCKET_RUNTIME_DEVICE_GEMM_H

#include <cstdint>

namespace hocket::runtime {

enum class GemmType : uint8_t { F32, BF16, F16 };

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
};

constexpr int64_t sizeBytes(GemmType type) { return type == GemmType::F32 ? 4 : 2; }

} // namespace hocket::runtime
#endif
