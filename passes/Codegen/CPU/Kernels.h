// From kernels of nn ops to machine code for a CPU.
//
//   module with `func.func @k_…` of nn ops ──emitKernels──▶ module of llvm.func ──emitObject──▶ object
//   ──linkExecutable──▶
//
// ABI of a kernel: void k(void *const *buffers, const int64_t *scalars, int64_t beginTile, int64_t endTile). `buffers`:
// the function's tensors in order, then its results; `scalars`: its i64 arguments. Tiles are independent: any cut of
// [0, tiles) over threads gives the same bits.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Codegen/CPU/CpuTarget.h"
#include "passes/Codegen/Graph/KernelFunction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace hocket::cpu {
#define GEN_PASS_DECL
#include "passes/Codegen/CPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerCodegenCPUPasses()
#include "passes/Codegen/CPU/Passes.h.inc"

/// Names of what emitKernels writes on each kernel function (i64): independent tiles, floating-point operations, and
/// bytes of all operands and results.
inline constexpr llvm::StringLiteral tilesAttr = "hocket.tiles";
using codegen::bytesAttr;
using codegen::flopsAttr;
using codegen::isKernel;

/// Makes `llvm.func`s in the LLVM dialect, one a kernel of `module`, in a module of their own; writes the attributes
/// above. Faults (an op without a rule) are reported at the op.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitKernels(mlir::ModuleOp module, const CpuTarget &target);

/// LLVM IR of a module that emitKernels made, optimised for the target.
llvm::Expected<std::unique_ptr<llvm::Module>> translateKernels(mlir::ModuleOp kernels, const CpuTarget &target,
                                                               llvm::LLVMContext &context);
/// An object file with the kernels, the table `hocket_kernels` of `hocket_kernel_count` pairs {const char *name, void
/// *fn}, and the program file between hocket_program_begin and hocket_program_end in section .hocket.program, aligned
/// to 64 bytes.
llvm::Expected<llvm::SmallVector<char, 0>> emitObject(mlir::ModuleOp kernels, const CpuTarget &target,
                                                      llvm::ArrayRef<char> program);

struct LinkInputs {
  std::string compiler;               ///< clang++, which calls the linker
  std::vector<std::string> libraries; ///< the runtime's archives and what they need, in link order; paths or -lNAME
  std::vector<std::string> options;   ///< further words for the compiler
};
/// Writes `object` beside `output` and links it to an executable. Fails with the linker's own words.
llvm::Error linkExecutable(llvm::ArrayRef<char> object, const LinkInputs &inputs, llvm::StringRef output);
} // namespace hocket::cpu
