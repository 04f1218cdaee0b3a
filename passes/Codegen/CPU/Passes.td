// The pass of the CPU's code generation.
#ifndef HOCKET_PASSES_CODEGEN_CPU_TD
#define HOCKET_PASSES_CODEGEN_CPU_TD
include "mlir/Pass/PassBase.td"

def CodegenCpuPass : Pass<"codegen-cpu", "::mlir::ModuleOp"> {
  let summary = "replaces kernels of nn ops by functions in the LLVM dialect";
  let description = [{
    `func.func private @k_…` becomes `llvm.func @k_…(buffers, scalars, beginTile, endTile)` with `hocket.tiles`, `hocket.flops`
    and `hocket.bytes`. Bulk loops work on 32 elements at once; exp, tanh and log are polynomials on vectors.
  }];
  let options = [Option<"march", "march", "std::string", "\"native\"", "CPU that the kernels are for">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
#endif
