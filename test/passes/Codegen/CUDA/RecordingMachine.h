// Kernels with what they make of their buffers, written down, so that a machine with a GPU but without a compiler can
// run them again and compare (tools/gpu-check --pack; test/runtime/Device/Cuda/ReplayKernels.cpp reads it).
#pragma once
#include "KernelTesting.h"

namespace hocket::cuda {
struct Toolkit;
}
namespace hocket::codegen::testing {

/// Runs kernels by `over`, and writes each run, but for those of more than half a MiB, into a file of its own in
/// `folder`:
///   a line of JSON: {"test", "kernel", "launches": [{"symbol", "grid", "block", "sharedBytes"}], "numbers",
///   "scratchBytes",
///     "buffers": [{"type", "elements", "bytes", "same"}], "code": [{"architecture", "bytes"}]}
///   the bytes of every piece of code (bitcode, architecture -1; PTX, 0; cubins), of every buffer before, and of every
///   buffer after. A buffer whose "same" is a number other than its own lies where that one does, and has no bytes
///   here.
std::unique_ptr<Machine> recordKernels(std::unique_ptr<Machine> over, const std::string &folder, mlir::ModuleOp kernels,
                                       const cuda::Toolkit &toolkit);

} // namespace hocket::codegen::testing
