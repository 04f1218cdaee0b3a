// See Kernels.h: which emitter writes a kernel, and the pass.
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Codegen/CUDA/GraphKernel.h"
#include "passes/Codegen/CUDA/GroupKernel.h"
#include "passes/Codegen/CUDA/LowerToNvvm.h"
#include "passes/Codegen/CUDA/SpecialEmitters.h"
#include "passes/Codegen/Fusion/Passes.h"
using namespace mlir;

namespace hocket::cuda {
#define GEN_PASS_DEF_CODEGENCUDAPASS
#include "passes/Codegen/CUDA/Passes.h.inc"

namespace {
LogicalResult emitKernel(func::FuncOp kernel, ModuleOp into) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (codegen::roleOf(op) == codegen::Role::Alone)
      return emitSpecial(kernel, op, into);
  if (kernel->hasAttr(codegen::partsAttr))
    return emitGroup(kernel, into);
  GraphKernel graph(kernel);
  if (failed(graph.plan()))
    return failure();
  StepKernel step(kernel, into, graph.scratchBytes());
  for (size_t i = 0; i < graph.launches(); ++i)
    step.add([&](GpuFrame &frame) { return graph.write(i, frame); });
  step.finish();
  return success();
}
} // namespace

FailureOr<OwningOpRef<ModuleOp>> emitKernels(ModuleOp module) {
  module.getContext()
      ->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, cf::ControlFlowDialect,
                    vector::VectorDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> made = ModuleOp::create(module.getLoc());
  bool sound = true;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    if (!codegen::isKernel(kernel))
      continue;
    if (failed(emitKernel(kernel, *made))) {
      sound = false;
      continue;
    }
    codegen::noteWork(kernel);
  }
  if (!sound)
    return failure();
  for (ModuleOp kernel : made->getOps<ModuleOp>())
    if (failed(lowerToNvvm(kernel)))
      return failure();
  return made;
}

namespace {
struct CodegenCuda : impl::CodegenCudaPassBase<CodegenCuda> {
  using CodegenCudaPassBase::CodegenCudaPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<OwningOpRef<ModuleOp>> made = emitKernels(module);
    if (failed(made))
      return signalPassFailure();
    SymbolTable symbols(module), modules(**made);
    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!codegen::isKernel(kernel))
        continue;
      Operation *own = modules.lookup(kernel.getSymName());
      own->moveBefore(kernel);
      for (StringRef name : {StringRef(launchesAttr), StringRef(scratchAttr), StringRef(codegen::flopsAttr),
                             StringRef(codegen::bytesAttr)})
        own->setAttr(name, kernel->getAttr(name));
      kernel.erase();
      if (!ptx.empty() && failed(addPtx(cast<ModuleOp>(own))))
        signalPassFailure();
    }
  }
  LogicalResult addPtx(ModuleOp kernel) {
    auto text = [&]() -> llvm::Expected<std::string> {
      auto toolkit = Toolkit::find();
      if (!toolkit)
        return toolkit.takeError();
      auto bitcode = translateKernel(kernel, *toolkit);
      return bitcode ? emitPtx(*bitcode, ptx) : bitcode.takeError();
    }();
    if (!text)
      return kernel.emitError(llvm::toString(text.takeError()));
    kernel->setAttr("hocket.ptx", StringAttr::get(kernel.getContext(), *text));
    return success();
  }
};
} // namespace
} // namespace hocket::cuda
