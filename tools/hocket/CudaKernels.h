// Kernels of a program for NVIDIA GPUs.
#pragma once
#include "tools/hocket/Session.h"

namespace hocket::tools {
/// Compiles every kernel of `module` for CUDA and writes on its function how it is launched (hocket.launches,
/// hocket.scratch), and, where ptxas is on this machine, what it says of each GPU kernel (hocket.figures: array of
/// dictionaries of symbol, architecture, registers, shared, stack, spilled). False after a fault; one of this machine
/// (no CUDA) is printed and does not count as a fault of the input.
bool addCudaKernels(Session &session, mlir::ModuleOp module);
} // namespace hocket::tools
