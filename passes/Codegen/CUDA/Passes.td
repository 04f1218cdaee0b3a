// The pass of CUDA's code generation.
#ifndef HOCKET_PASSES_CODEGEN_CUDA_TD
#define HOCKET_PASSES_CODEGEN_CUDA_TD
include "mlir/Pass/PassBase.td"

def CodegenCudaPass : Pass<"codegen-cuda", "::mlir::ModuleOp"> {
  let summary = "replaces kernels of nn ops by GPU kernels in the LLVM and NVVM dialects";
  let description = [{
    `func.func private @k_…` becomes `module @k_…` with one `llvm.func` a GPU kernel, and `hocket.launches`, `hocket.scratch`,
    `hocket.flops` and `hocket.bytes`. With `emit` the kernel is further lowered and the module's text is a string attribute
    `hocket.ptx`.
  }];
  let options = [Option<"ptx", "ptx", "std::string", "\"\"",
                        "architecture (sm_90) for which each kernel's PTX is added as attribute hocket.ptx">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}
#endif
