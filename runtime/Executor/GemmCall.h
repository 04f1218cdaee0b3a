// A product instruction as a device takes it.
#ifndef HOCKET_RUNTIME_EXECUTOR_GEMMCALL_H
#define HOCKET_RUNTIME_EXECUTOR_GEMMCALL_H

#include "runtime/Device/Gemm.h"
#include "runtime/Program/ProgramFile.h"
#include <span>

namespace hocket::runtime {

// Of an instruction of a checked program with op Gemm.
Gemm gemmOf(const program::Instruction &instruction);
// `pointers`: where its buffers lie, in their order.
GemmBuffers gemmBuffers(const program::Instruction &instruction, std::span<void *const> pointers);

} // namespace hocket::runtime
#endif
