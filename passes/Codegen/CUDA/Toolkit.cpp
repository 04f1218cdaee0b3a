// See Kernels.h: where CUDA is on this machine, and whether it can be used.
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

namespace hocket::cuda {
char MachineLacking::ID;

namespace {
struct Root {
  std::string path, asked; ///< `asked`: the variable that names it; empty: nobody does
};

llvm::SmallVector<Root> roots() {
  llvm::SmallVector<Root> all;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (auto path = llvm::sys::Process::GetEnv(name); path && !path->empty())
      all.push_back({*path, name});
  all.push_back({"/usr/local/cuda", ""});
  return all;
}

std::string inside(const Root &root, std::initializer_list<const char *> names) {
  llvm::SmallString<128> path(root.path);
  for (const char *name : names)
    llvm::sys::path::append(path, name);
  return path.str().str();
}

/// Of every kernel it would be the same fault.
llvm::Error checkLibdevice(const std::string &path) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(path, diagnostic, context);
  if (!library)
    return llvm::make_error<MachineLacking>("cannot read CUDA's " + path + ": " + diagnostic.getMessage());
  if (!library->getFunction("__nv_expf"))
    return llvm::make_error<MachineLacking>(path + " is not CUDA's libdevice: it has no __nv_expf");
  return llvm::Error::success();
}
} // namespace

llvm::Expected<Toolkit> Toolkit::find() {
  llvm::SmallVector<Root> all = roots();
  const Root &first = all.front();
  Toolkit toolkit{inside(first, {"nvvm", "libdevice", "libdevice.10.bc"}), {}};
  if (!llvm::sys::fs::exists(toolkit.libdevice))
    return llvm::make_error<MachineLacking>(
        first.asked.empty() ? "CUDA's libdevice.10.bc was not found; looked at " + toolkit.libdevice +
                                  " (set CUDA_HOME to where CUDA is)"
                            : first.asked + " is '" + first.path +
                                  "', where there is no CUDA toolkit: " + toolkit.libdevice + " does not exist");
  if (llvm::Error error = checkLibdevice(toolkit.libdevice))
    return std::move(error);
  for (const Root &root : all)
    if (std::string path = inside(root, {"bin", "ptxas"}); toolkit.ptxas.empty() && llvm::sys::fs::can_execute(path))
      toolkit.ptxas = path;
  if (toolkit.ptxas.empty())
    if (auto found = llvm::sys::findProgramByName("ptxas"))
      toolkit.ptxas = *found;
  return toolkit;
}
} // namespace hocket::cuda
