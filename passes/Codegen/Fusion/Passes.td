// The pass that decides which ops run together.
#ifndef HOCKET_PASSES_CODEGEN_FUSION_TD
#define HOCKET_PASSES_CODEGEN_FUSION_TD
include "mlir/Pass/PassBase.td"

def CodegenFusePass : Pass<"codegen-fuse", "::mlir::ModuleOp"> {
  let summary = "turns the nn ops of every body into products of the library and launches of kernels";
  let description = [{
    Runs on bodies whose values are tensors. Afterwards a body holds loads, stores, collectives, rank_scalars, `step.gemm`
    and `step.launch`; kernels are private functions of the module.

      * linear, matmul: `step.gemm`, by the rule's dimensions; added to an accumulator that was loaded, where the product has
        no other use.
      * all else: an op joins the kernel that makes one of its operands (or that reads the same tensor by rows) if both are one
        kernel (KernelShape.h) and the order of everything else is kept.
      * with `epilogues` (CUDA): bias, gelu, its gradient and sums of operands join a product that they belong to, as far as
        cublasLt computes it (Epilogues.h).
      * square_sum of a large tensor is a sum over rows and then a sum, so that threads share it.

    A kernel means the same whatever its place: two that print alike are one function. Its name says its ops and its rows and
    columns. `hocket.in_place` lists pairs (result, operand) where the result may take the operand's memory: same type, and each
    element is read before it is written.
  }];
  let options = [Option<"epilogues", "epilogues", "bool", /*default=*/"false", "give products epilogues, as cublasLt has them">];
  let dependentDialects = ["::hocket::step::StepDialect", "::mlir::func::FuncDialect"];
}
def CodegenGroupLaunchesPass : Pass<"codegen-group-launches", "::mlir::ModuleOp"> {
  let summary = "lets kernels of begin and update that wait for nothing of each other share a launch";
  let description = [{
    For GPUs, on what codegen-fuse leaves: an update is a few kernels for each parameter, and starting a kernel takes longer than
    most of them run. Launches of one body whose kernels are made of the same ops (of whatever shapes and attributes) become one, at
    the place of the first, as far as all they read is there at that place. No launch crosses a collective or a transfer: what it
    makes lives no longer for it, and nothing is sent later.

    The kernel of such a launch has the ops of its parts one part after another and `hocket.parts`, how many each has; what each
    may do in place stays as it was. Every part keeps its grid, so no bit changes. A launch has at most 4 KiB of parameters, which
    every driver takes.
  }];
  let dependentDialects = ["::hocket::step::StepDialect", "::mlir::func::FuncDialect"];
}
#endif
