// From planned step programs to the program file that the runtime reads.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "runtime/Program/program_generated.h"
#include <optional>

namespace hocket::step {

/// What the executable is for; not in the IR.
struct ProgramTarget {
  std::string target = "cpu";
  std::string march;
  std::vector<std::string> features;
  uint32_t threads = 1; ///< per rank
};

/// The program of the module's one step.job, whose step.programs have been through step-plan-memory and whose kernels
/// carry hocket.tiles, hocket.flops and hocket.bytes, and for target "cuda" hocket.scratch. Equal inputs give equal
/// bytes. Errors are reported at the op at fault.
std::optional<program::ProgramT> buildProgram(mlir::ModuleOp module, const ProgramTarget &target);
/// Gives the kernels of a program for "cuda", by name, their code; until then it says all but that.
void addGpuCode(program::ProgramT &program, llvm::ArrayRef<cuda::CompiledKernel> kernels);
} // namespace hocket::step
