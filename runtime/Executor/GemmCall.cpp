// See GemmCall.h.
#include "runtime/Executor/GemmCall.h"

namespace hocket::runtime {

static GemmType gemmType(program::DType type) {
  return type == program::DType::BF16 ? GemmType::BF16 : type == program::DType::F16 ? GemmType::F16 : GemmType::F32;
}

Gemm gemmOf(const program::Instruction &instruction) {
  const program::Gemm &from = *instruction.gemm();
  Gemm result;
  result.type = gemmType(instruction.type());
  result.resultType = gemmType(instruction.resultType());
  result.epilogue = static_cast<GemmEpilogue>(instruction.epilogue());
  result.transA = from.transA();
  result.transB = from.transB();
  result.accumulate = from.accumulate();
  result.m = static_cast<int64_t>(from.m());
  result.n = static_cast<int64_t>(from.n());
  result.k = static_cast<int64_t>(from.k());
  result.lda = static_cast<int64_t>(from.lda());
  result.ldb = static_cast<int64_t>(from.ldb());
  result.ldc = static_cast<int64_t>(from.ldc());
  result.batch = static_cast<int64_t>(from.batch());
  result.strideA = static_cast<int64_t>(from.strideA());
  result.strideB = static_cast<int64_t>(from.strideB());
  result.strideC = static_cast<int64_t>(from.strideC());
  return result;
}

GemmBuffers gemmBuffers(const program::Instruction &instruction, std::span<void *const> pointers) {
  auto epilogue = static_cast<GemmEpilogue>(instruction.epilogue());
  GemmBuffers buffers{pointers[0], pointers[1], pointers[2]};
  size_t next = 3;
  if (hasBias(epilogue))
    buffers.bias = pointers[next++];
  if (hasBefore(epilogue))
    buffers.before = pointers[next++];
  if (hasSum(epilogue))
    buffers.sum = pointers[next++];
  return buffers;
}

} // namespace hocket::runtime
