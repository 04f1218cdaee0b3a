// cublasLt, as far as it is used. A test compares types and constants with cublasLt.h where there is one.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_BLASLT_H
#define HOCKET_RUNTIME_DEVICE_CUDA_BLASLT_H

#include "runtime/Device/Cuda/Driver.h"

namespace hocket::runtime::cuda {

struct BlasAlgorithm { // cublasLtMatmulAlgo_t
  uint64_t data[8];
};
struct BlasHeuristic { // cublasLtMatmulHeuristicResult_t
  BlasAlgorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};
inline constexpr int blasF32 = 0, blasF16 = 2, blasBF16 = 14; // cudaDataType
inline constexpr int blasCompute32F = 68;                     // f32 without TF32
inline constexpr int blasTransA = 3, blasTransB = 4, blasEpilogue = 7, blasBiasPointer = 8, blasAuxPointer = 11,
                     blasAuxLeading = 12, blasAuxType = 22, blasBiasType = 26; // CUBLASLT_MATMUL_DESC_…
// CUBLASLT_EPILOGUE_…; gelu is that by tanh.
inline constexpr uint32_t blasEpilogueDefault = 1, blasEpilogueBias = 4, blasEpilogueGeluAux = 160,
                          blasEpilogueGeluAuxBias = 164, blasEpilogueDGelu = 192, blasEpilogueBGradA = 256,
                          blasEpilogueBGradB = 512;
inline constexpr int blasOperationN = 0, blasOperationT = 1;  // CUBLAS_OP_…
inline constexpr int blasBatchCount = 5, blasBatchOffset = 6; // CUBLASLT_MATRIX_LAYOUT_…
inline constexpr int blasMostWorkspace = 1, blasReductions = 3, blasAlignmentA = 5, blasAlignmentB = 6,
                     blasAlignmentC = 7, blasAlignmentD = 8;
inline constexpr uint32_t blasReduceInPlace = 1, blasReduceInComputeType = 2; // CUBLASLT_REDUCTION_SCHEME_…

// 12.0: the interface of matrix products that is used here
inline constexpr size_t leastBlasLt = 120000;

#define HOCKET_BLASLT_FUNCTIONS(X)                                                                                     \
  X(create, "cublasLtCreate", int(Handle *))                                                                           \
  X(destroy, "cublasLtDestroy", int(Handle))                                                                           \
  X(getVersion, "cublasLtGetVersion", size_t())                                                                        \
  X(getStatusString, "cublasLtGetStatusString", const char *(int))                                                     \
  X(productCreate, "cublasLtMatmulDescCreate", int(Handle *, int, int))                                                \
  X(productDestroy, "cublasLtMatmulDescDestroy", int(Handle))                                                          \
  X(productSet, "cublasLtMatmulDescSetAttribute", int(Handle, int, const void *, size_t))                              \
  X(layoutCreate, "cublasLtMatrixLayoutCreate", int(Handle *, int, uint64_t, uint64_t, int64_t))                       \
  X(layoutDestroy, "cublasLtMatrixLayoutDestroy", int(Handle))                                                         \
  X(layoutSet, "cublasLtMatrixLayoutSetAttribute", int(Handle, int, const void *, size_t))                             \
  X(preferenceCreate, "cublasLtMatmulPreferenceCreate", int(Handle *))                                                 \
  X(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", int(Handle))                                                 \
  X(preferenceSet, "cublasLtMatmulPreferenceSetAttribute", int(Handle, int, const void *, size_t))                     \
  X(heuristic, "cublasLtMatmulAlgoGetHeuristic",                                                                       \
    int(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, BlasHeuristic *, int *))                          \
  X(multiply, "cublasLtMatmul",                                                                                        \
    int(Handle, Handle, const void *, const void *, Handle, const void *, Handle, const void *, const void *, Handle,  \
        void *, Handle, const BlasAlgorithm *, void *, size_t, Handle))

struct BlasLt {
  HOCKET_BLASLT_FUNCTIONS(HOCKET_FIELD)

  // Opens libcublasLt of CUDA 13 or 12. Lacking, with what is needed, where that fails.
  static Result<BlasLt> open();
  static Result<BlasLt> open(std::span<const char *const> files);
  static std::vector<std::string> symbols();
  // Success, or "cublasLtMatmul: an unsupported value or parameter was passed".
  Status check(int outcome, std::string_view call) const;
};

} // namespace hocket::runtime::cuda
#endif
