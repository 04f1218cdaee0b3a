// Writing a program to an executable.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "passes/Codegen/CPU/CpuTarget.h"
#include "runtime/Program/program_generated.h"
#include "tools/hocket/Session.h"

namespace hocket::tools {
/// Checks the program as the runtime will, makes an object of it and of `kernels` (functions of the LLVM dialect; none
/// for a program whose kernels are inside it), links and seals. Done, or how `hocket` ends.
int writeExecutable(Session &session, const program::ProgramT &program, mlir::ModuleOp kernels,
                    const cpu::CpuTarget &host, const std::string &output);
} // namespace hocket::tools
