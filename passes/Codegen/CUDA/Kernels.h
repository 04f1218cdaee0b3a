// From kernels of nn ops to machine code for NVIDIA GPUs.
//
//   module with `func.func @k_…` of nn ops ──emitKernels──▶ module with one builtin.module a kernel, of llvm.func
//   ──translateKernel──▶ LLVM bitcode, optimised, with libdevice: what the emulator runs
//   ──assembleKernel──▶ PTX, and a cubin for each architecture where ptxas is there
//
// A step kernel is one or more GPU kernels, launched one after another on one stream. Each is an LLVM function with the
// calling convention of NVPTX kernels; all GPU kernels of a step kernel take the same parameters: a pointer to global
// memory for each of the function's tensors, in order, then for each of its results, then an i64 for each number, then,
// where the scratch is not 0 bytes, a pointer to it. Pointers to buffers and scratch are aligned to 16 bytes; the
// scratch holds nothing before the first kernel nor after the last.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Codegen/Graph/KernelFunction.h"
#include "llvm/Support/Error.h"
#include <array>

namespace hocket::cuda {
#define GEN_PASS_DECL
#include "passes/Codegen/CUDA/Passes.h.inc"
#define GEN_PASS_REGISTRATION // registerCodegenCUDAPasses()
#include "passes/Codegen/CUDA/Passes.h.inc"

/// What emitKernels writes on each kernel function: launches in order (array of dictionaries with symbol: string, grid
/// and block: array<i64> of three, shared: i64), bytes of scratch (i64), and what noteWork writes.
inline constexpr llvm::StringLiteral launchesAttr = "hocket.launches", scratchAttr = "hocket.scratch";

/// One GPU kernel and how it is launched.
struct Launch {
  std::string symbol;
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  int64_t sharedBytes = 0; ///< dynamic; static shared memory is the code's own
};
/// What launchesAttr of a kernel function says.
llvm::SmallVector<Launch> launchesOf(mlir::Operation *kernel);
int64_t scratchBytesOf(mlir::Operation *kernel);

/// Makes a builtin.module for each kernel of `module` (its name: the kernel's), with one llvm.func a GPU kernel, in the
/// LLVM and NVVM dialects, in a module of their own; writes the attributes above. Faults (an op without a rule) are
/// reported at the op.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitKernels(mlir::ModuleOp module);

/// What this machine lacks: a fault of neither the model nor the compiler.
class MachineLacking : public llvm::ErrorInfo<MachineLacking> {
public:
  static char ID;
  explicit MachineLacking(const llvm::Twine &message) : text(message.str()) {}
  void log(llvm::raw_ostream &stream) const override { stream << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// The parts of CUDA that kernels are made with.
struct Toolkit {
  std::string libdevice; ///< path of libdevice.10.bc
  std::string ptxas;     ///< path; empty where there is none
  /// libdevice is that of CUDA_HOME, else of CUDA_PATH, else of /usr/local/cuda: one that is asked for by name and not
  /// there is not replaced by another. ptxas is the first in any of them, or in PATH. A libdevice that is missing or
  /// cannot be read is MachineLacking; a missing ptxas is none.
  static llvm::Expected<Toolkit> find();
};

/// What the assembler says of one GPU kernel.
struct Figures {
  std::string symbol;
  int64_t registers = 0, sharedBytes = 0, stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
};
struct Cubin {
  std::string architecture; ///< "sm_90"
  std::vector<char> bytes;
  std::vector<Figures> figures;
};
inline constexpr llvm::StringLiteral architectures[] = {"sm_80", "sm_90", "sm_100"};

/// LLVM bitcode of a kernel's module that emitKernels made: target nvptx64, libdevice linked, optimised. Whatever stays
/// undefined is a fault.
llvm::Expected<std::string> translateKernel(mlir::ModuleOp kernel, const Toolkit &toolkit);
/// PTX of that bitcode for one architecture (and those after it).
llvm::Expected<std::string> emitPtx(llvm::StringRef bitcode, llvm::StringRef architecture);
/// Runs ptxas. Fails with the first of its own words, or where toolkit.ptxas is empty: MachineLacking, but for PTX that it
/// refuses, a fault of the compiler.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef architecture, const Toolkit &toolkit);

/// A step kernel, ready for a program file: code that a GPU loads, and the bitcode that the emulator runs.
struct CompiledKernel {
  std::string name;
  llvm::SmallVector<Launch> launches;
  int64_t scratchBytes = 0;
  std::string bitcode;
  std::string ptx;           ///< for the first of `architectures`, which every later GPU compiles when it loads it
  std::vector<Cubin> cubins; ///< one for each of `architectures`; empty where there is no ptxas
};
/// Compiles every kernel of `module` (functions after emitKernels) from `made`; `threads` of them assemble at once. All
/// faults of all kernels are one error; what the machine lacks is said of the first kernel alone, and is MachineLacking.
llvm::Expected<std::vector<CompiledKernel>> compileKernels(mlir::ModuleOp module, mlir::ModuleOp made,
                                                           const Toolkit &toolkit, unsigned threads);
} // namespace hocket::cuda
