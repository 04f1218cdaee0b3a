// See CudaKernels.h.
#include "tools/hocket/CudaKernels.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/StepToProgram/GpuKernels.h"
#include <fmt/format.h>
using namespace mlir;

namespace {
ArrayAttr figuresOf(Builder builder, const hocket::cuda::CompiledKernel &kernel) {
  SmallVector<Attribute> all;
  for (const hocket::cuda::Cubin &cubin : kernel.cubins)
    for (const hocket::cuda::Figures &figures : cubin.figures) {
      auto number = [&](StringRef name, int64_t value) {
        return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
      };
      all.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("symbol", builder.getStringAttr(figures.symbol)),
           builder.getNamedAttr("architecture", builder.getStringAttr(cubin.architecture)),
           number("registers", figures.registers), number("shared", figures.sharedBytes),
           number("stack", figures.stackBytes), number("spilled", figures.spillStoreBytes + figures.spillLoadBytes)}));
    }
  return builder.getArrayAttr(all);
}
} // namespace

OwningOpRef<ModuleOp> hocket::tools::emitCudaKernels(Session &session, ModuleOp module) {
  FailureOr<OwningOpRef<ModuleOp>> made = cuda::emitKernels(module);
  if (succeeded(made))
    return std::move(*made);
  if (!session.errors())
    session.error("a kernel could not be made for CUDA, without a word why; this is a fault of the compiler");
  return nullptr;
}

std::optional<std::vector<hocket::cuda::CompiledKernel>>
hocket::tools::compileCudaKernels(Session &session, ModuleOp module, ModuleOp made) {
  auto toolkit = cuda::Toolkit::find();
  if (!toolkit) {
    fmt::print(stderr, "error: {}\n", llvm::toString(toolkit.takeError()));
    return std::nullopt;
  }
  if (toolkit->ptxas.empty())
    fmt::print(stderr, "no ptxas on this machine: kernels are made as PTX, without the assembler's figures\n");
  auto kernels = cuda::compileKernels(module, made, *toolkit, /*threads=*/0);
  if (!kernels) {
    llvm::handleAllErrors(
        kernels.takeError(),
        [](const cuda::MachineLacking &error) { fmt::print(stderr, "error: {}\n", error.message()); },
        [&](const llvm::ErrorInfoBase &error) { session.error(error.message()); });
    return std::nullopt;
  }
  SymbolTable symbols(module);
  for (const cuda::CompiledKernel &kernel : *kernels)
    if (!kernel.cubins.empty())
      symbols.lookup(kernel.name)->setAttr("hocket.figures", figuresOf(Builder(module.getContext()), kernel));
  return std::move(*kernels);
}

std::optional<uint64_t> hocket::tools::memoryForPlan(Session &session, const Job &job, uint64_t bytes) {
  if (!job.choice.forGpu)
    return bytes;
  auto module = lower(session, job.choice, job.shape, Layer::Kernels);
  if (!module || !emitCudaKernels(session, *module))
    return std::nullopt;
  uint64_t beside = step::gpuMemoryBytes(*module);
  if (beside >= bytes) {
    session.error(fmt::format("--memory gives {} bytes; kernels and products of a GPU alone need {}", bytes, beside));
    return std::nullopt;
  }
  fmt::print(stderr, "kernels and products of a GPU need {} bytes; {} of {} are left for the plan\n", beside,
             bytes - beside, bytes);
  return bytes - beside;
}
