// See Kernels.h: all kernels of a program. Bitcode is made one after another (it reads one MLIR context); PTX and
// cubins of several kernels at once.
#include "mlir/IR/SymbolTable.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>

namespace hocket::cuda {
namespace {
llvm::Error assembleAll(CompiledKernel &kernel, const Toolkit &toolkit) {
  for (llvm::StringRef architecture : architectures) {
    auto ptx = emitPtx(kernel.bitcode, architecture);
    if (!ptx)
      return ptx.takeError();
    if (architecture == architectures[0])
      kernel.ptx = *ptx;
    if (toolkit.ptxas.empty())
      return llvm::Error::success();
    auto cubin = assemble(*ptx, architecture, toolkit);
    if (!cubin)
      return cubin.takeError();
    kernel.cubins.push_back(std::move(*cubin));
  }
  return llvm::Error::success();
}
} // namespace

llvm::Expected<std::vector<CompiledKernel>> compileKernels(mlir::ModuleOp module, mlir::ModuleOp made,
                                                           const Toolkit &toolkit, unsigned threads) {
  std::vector<CompiledKernel> kernels;
  std::vector<std::string> faults;
  mlir::SymbolTable modules(made);
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!codegen::isKernel(function))
      continue;
    auto own = modules.lookup<mlir::ModuleOp>(function.getSymName());
    auto bitcode = translateKernel(own, toolkit);
    if (!bitcode) {
      faults.push_back(llvm::toString(bitcode.takeError()));
      continue;
    }
    kernels.push_back({function.getSymName().str(), launchesOf(function), scratchBytesOf(function), *bitcode, {}, {}});
  }
  std::vector<std::string> said(kernels.size()), lacking(kernels.size());
  std::atomic<bool> lacks = false; // no kernel after that will fare better
  {
    llvm::DefaultThreadPool pool(llvm::heavyweight_hardware_concurrency(threads));
    for (size_t i = 0; i < kernels.size(); ++i)
      pool.async([&, i] {
        if (lacks)
          return;
        llvm::handleAllErrors(
            assembleAll(kernels[i], toolkit),
            [&](const MachineLacking &error) {
              lacking[i] = kernels[i].name + ": " + error.message();
              lacks = true;
            },
            [&](const llvm::ErrorInfoBase &error) { said[i] = kernels[i].name + ": " + error.message(); });
      });
    pool.wait();
  }
  for (const std::string &first : lacking)
    if (!first.empty())
      return llvm::make_error<MachineLacking>(first);
  std::string all;
  for (const auto &list : {faults, said})
    for (const std::string &fault : list)
      if (!fault.empty())
        all += (all.empty() ? "" : "\n") + fault;
  if (!all.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), all);
  return kernels;
}
} // namespace hocket::cuda
