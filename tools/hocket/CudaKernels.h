// Kernels of a program for NVIDIA GPUs.
#pragma once
#include "passes/Codegen/CUDA/Kernels.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/Session.h"

namespace hocket::tools {
/// Makes the GPU kernels of every kernel of `module`, and writes on its function how it is launched (hocket.launches,
/// hocket.scratch): enough to plan and to count, on a machine without CUDA too. Null after a fault.
mlir::OwningOpRef<mlir::ModuleOp> emitCudaKernels(Session &session, mlir::ModuleOp module);

/// Compiles what emitCudaKernels made, as many kernels at once as the machine has cores, and writes on each function
/// what ptxas, where it is on this machine, says of it (hocket.figures: array of dictionaries of symbol, architecture,
/// registers, shared, stack, spilled); where it is not, that is said once. Nothing after a fault; one of this machine
/// (no CUDA) is printed and does not count as a fault of the input.
std::optional<std::vector<cuda::CompiledKernel>> compileCudaKernels(Session &session, mlir::ModuleOp module,
                                                                    mlir::ModuleOp made);

/// What is left of a rank's memory for the plan itself, which then fits with all that a program has beside it: for
/// "cuda" the scratch of kernels and the workspace of products (said on stderr), as the plan stands; for "cpu" all.
/// Nothing after a fault.
std::optional<uint64_t> memoryForPlan(Session &session, const Job &job, uint64_t bytes);
} // namespace hocket::tools
