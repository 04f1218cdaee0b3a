// See Kernels.h: where CUDA is on this machine.
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

namespace hocket::cuda {
llvm::Expected<Toolkit> Toolkit::find() {
  std::vector<std::string> roots;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (auto root = llvm::sys::Process::GetEnv(name))
      roots.push_back(*root);
  roots.push_back("/usr/local/cuda");
  Toolkit toolkit;
  std::string looked;
  for (const std::string &root : roots) {
    llvm::SmallString<128> library(root), assembler(root);
    llvm::sys::path::append(library, "nvvm", "libdevice", "libdevice.10.bc");
    llvm::sys::path::append(assembler, "bin", "ptxas");
    looked += (looked.empty() ? "" : ", ") + library.str().str();
    if (toolkit.libdevice.empty() && llvm::sys::fs::exists(library))
      toolkit.libdevice = library.str();
    if (toolkit.ptxas.empty() && llvm::sys::fs::can_execute(assembler))
      toolkit.ptxas = assembler.str();
  }
  if (toolkit.ptxas.empty())
    if (auto found = llvm::sys::findProgramByName("ptxas"))
      toolkit.ptxas = *found;
  if (toolkit.libdevice.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "CUDA's libdevice.10.bc was not found; looked at " +
                                                                       looked + " (set CUDA_HOME to where CUDA is)");
  return toolkit;
}
} // namespace hocket::cuda
