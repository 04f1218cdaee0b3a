// See ExecutableFile.h.
#include "tools/hocket/ExecutableFile.h"
#include "passes/Codegen/CPU/Kernels.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/ProgramFile.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Installation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

/// What the runtime will refuse is a fault of the compiler: said now.
static bool checkFile(Session &session, const std::vector<uint8_t> &file) {
  std::vector<uint8_t> aligned(file.size() + program::fileAlignment);
  auto *base =
      aligned.data() + (program::fileAlignment - reinterpret_cast<uintptr_t>(aligned.data()) % program::fileAlignment) %
                           program::fileAlignment;
  std::copy(file.begin(), file.end(), base);
  for (const std::string &fault : program::open({base, file.size()}).faults)
    session.error("the program that was made is not sound (a fault of the compiler): " + fault);
  return !session.errors();
}

int hocket::tools::writeExecutable(Session &session, const program::ProgramT &program, ModuleOp kernels,
                                   const cpu::CpuTarget &host, const std::string &output) {
  std::vector<uint8_t> file = program::write(program);
  if (!checkFile(session, file))
    return InputAtFault;
  auto object = cpu::emitObject(kernels, host, {reinterpret_cast<const char *>(file.data()), file.size()});
  if (!object) {
    session.error(llvm::toString(object.takeError()));
    return MachineLacks;
  }
  std::optional<cpu::LinkInputs> words = linkInputs(session);
  if (!words)
    return MachineLacks;
  llvm::sys::RemoveFileOnSignal(output); // from here on, until it is whole
  if (llvm::Error fault = cpu::linkExecutable(*object, *words, output))
    session.error(llvm::toString(std::move(fault)));
  else if (auto sealed = program::sealExecutable(output); !sealed)
    session.error(sealed.error().message);
  llvm::sys::DontRemoveFileOnSignal(output);
  if (!session.errors())
    return Done;
  llvm::sys::fs::remove(output);
  return MachineLacks;
}
