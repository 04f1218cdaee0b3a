// The tables against an installed CUDA toolkit: every symbol is in its libraries, every constant is its headers'.
// Skipped, and counted so, where there is none.
#include "runtime/Device/Cuda/BlasLt.h"
#include "runtime/Device/Cuda/Driver.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#ifdef HOCKET_CUDA_HEADERS
#include <cublasLt.h>
#include <cuda.h>
#endif

using namespace hocket::runtime::cuda;
namespace {

void expectSymbols(const std::vector<const char *> &files, const std::vector<std::string> &symbols) {
  void *library = nullptr;
  for (const char *file : files)
    if (!library)
      library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << "no " << files.front();
  EXPECT_GT(symbols.size(), 10u);
  for (const std::string &symbol : symbols)
    EXPECT_NE(dlsym(library, symbol.c_str()), nullptr) << symbol;
}

TEST(CudaToolkit, DriverHasAllSymbols) { expectSymbols({HOCKET_CUDA_STUB, "libcuda.so.1"}, Driver::symbols()); }

TEST(CudaToolkit, BlasLtHasAllSymbols) {
  expectSymbols({HOCKET_CUBLASLT, "libcublasLt.so.13", "libcublasLt.so.12"}, BlasLt::symbols());
}

TEST(CudaToolkit, ConstantsAreThoseOfTheHeaders) {
#ifndef HOCKET_CUDA_HEADERS
  GTEST_SKIP() << "no cuda.h and cublasLt.h";
#else
  EXPECT_EQ(int(outOfMemory), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(int(noDevice), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(int(notReady), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(streamNonBlocking, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(eventDisableTiming, CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(attributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(attributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(functionMostDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(sizeof(DevicePointer), sizeof(CUdeviceptr));
  EXPECT_EQ(sizeof(BlasAlgorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(BlasHeuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(BlasHeuristic, workspaceBytes), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(BlasHeuristic, waves), offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
  EXPECT_EQ(blasF32, CUDA_R_32F);
  EXPECT_EQ(blasF16, CUDA_R_16F);
  EXPECT_EQ(blasBF16, CUDA_R_16BF);
  EXPECT_EQ(blasCompute32F, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(blasTransA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(blasTransB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(blasEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_EQ(blasBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_EQ(blasAuxPointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  EXPECT_EQ(blasAuxLeading, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  EXPECT_EQ(blasAuxType, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
  EXPECT_EQ(blasBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  EXPECT_EQ(blasEpilogueDefault, uint32_t(CUBLASLT_EPILOGUE_DEFAULT));
  EXPECT_EQ(blasEpilogueBias, uint32_t(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(blasEpilogueGeluAux, uint32_t(CUBLASLT_EPILOGUE_GELU_AUX));
  EXPECT_EQ(blasEpilogueGeluAuxBias, uint32_t(CUBLASLT_EPILOGUE_GELU_AUX_BIAS));
  EXPECT_EQ(blasEpilogueDGelu, uint32_t(CUBLASLT_EPILOGUE_DGELU));
  EXPECT_EQ(blasEpilogueBGradA, uint32_t(CUBLASLT_EPILOGUE_BGRADA));
  EXPECT_EQ(blasEpilogueBGradB, uint32_t(CUBLASLT_EPILOGUE_BGRADB));
  EXPECT_EQ(blasOperationN, CUBLAS_OP_N);
  EXPECT_EQ(blasOperationT, CUBLAS_OP_T);
  EXPECT_EQ(blasBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(blasBatchOffset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(blasMostWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(blasReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  EXPECT_EQ(blasReduceInPlace, uint32_t(CUBLASLT_REDUCTION_SCHEME_INPLACE));
  EXPECT_EQ(blasReduceInComputeType, uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  EXPECT_EQ(blasAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_EQ(blasAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  EXPECT_EQ(blasAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  EXPECT_EQ(blasAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
#endif
}

} // namespace
