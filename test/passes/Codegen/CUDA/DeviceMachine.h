// Kernels on a device of the runtime.
#pragma once
#include "KernelTesting.h"

namespace hocket::cuda {
struct Toolkit;
}
namespace hocket::codegen::testing {

/// `name`: cuda or emulator. Null with a failure of the test where there is no such device.
std::unique_ptr<Machine> compileForDevice(llvm::StringRef name, mlir::ModuleOp kernels, const cuda::Toolkit &toolkit);

} // namespace hocket::codegen::testing
