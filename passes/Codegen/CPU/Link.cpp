// See Kernels.h: the executable.
#include "passes/Codegen/CPU/Kernels.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

namespace hocket::cpu {
namespace {
llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// What the linker wrote, on one line each, so that a message can hold it.
std::string readText(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}
} // namespace

/// A linker that a signal ends, as where files may not grow, dumps its stack, asks for a report, and names the signal
/// last.
static std::string withoutDump(const std::string &said) {
  llvm::StringRef text(said);
  size_t dump = text.find("PLEASE submit a bug report");
  if (dump == llvm::StringRef::npos)
    return said;
  size_t end = text.find(": error: ", dump);
  size_t line = end == llvm::StringRef::npos ? end : text.rfind('\n', end);
  return (text.take_front(dump) + (line == llvm::StringRef::npos ? "" : text.substr(line + 1))).str();
}

llvm::Error linkExecutable(llvm::ArrayRef<char> object, const LinkInputs &inputs, llvm::StringRef output) {
  llvm::SmallString<128> objectPath, logPath;
  int descriptor = 0;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("hocket-kernels", "o", descriptor, objectPath))
    return fault("cannot write a temporary object: " + error.message());
  llvm::FileRemover removeObject(objectPath);
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream.write(object.data(), object.size());
    stream.close();
    if (std::error_code error = stream.error()) {
      stream.clear_error(); // or LLVM ends the process in its own way
      return fault("cannot write " + objectPath.str() + ": " + error.message());
    }
  }
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("hocket-link", "txt", logPath))
    return fault("cannot write a temporary file: " + error.message());
  llvm::FileRemover removeLog(logPath);
  llvm::SmallVector<llvm::StringRef> words = {inputs.compiler, "-fuse-ld=lld", "-o", output, objectPath};
  words.append(inputs.libraries.begin(), inputs.libraries.end());
  words.append(inputs.options.begin(), inputs.options.end());
  std::optional<llvm::StringRef> streams[] = {std::nullopt, llvm::StringRef(logPath), llvm::StringRef(logPath)};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(inputs.compiler, words, std::nullopt, streams, 0, 0, &error);
  if (status == 0)
    return llvm::Error::success();
  std::string said = withoutDump(readText(logPath));
  return fault("linking " + output + " failed" + (error.empty() ? "" : ": " + error) +
               (said.empty() ? "" : ":\n" + said));
}
} // namespace hocket::cpu
