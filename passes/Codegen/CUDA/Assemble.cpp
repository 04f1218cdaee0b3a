// See Kernels.h: ptxas, and what it says of a kernel.
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace hocket::cuda {
namespace {
llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The number that stands before `unit` in a line such as "Used 32 registers, 16 bytes smem"; 0 if there is none.
int64_t numberBefore(llvm::StringRef line, llvm::StringRef unit) {
  size_t at = line.find(unit);
  if (at == llvm::StringRef::npos)
    return 0;
  llvm::StringRef before = line.take_front(at).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  int64_t number = 0;
  before.drop_front(begin == llvm::StringRef::npos ? 0 : begin + 1).getAsInteger(10, number);
  return number;
}

/// ptxas -v: "Compiling entry function 'NAME' for 'sm_90'", then its lines.
std::vector<Figures> parseFigures(llvm::StringRef said) {
  std::vector<Figures> all;
  for (llvm::StringRef line : llvm::split(said, '\n')) {
    if (line.contains("Compiling entry function '")) {
      all.emplace_back().symbol = line.split('\'').second.split('\'').first.str();
    } else if (!all.empty() && line.contains("bytes stack frame")) {
      all.back().stackBytes = numberBefore(line, "bytes stack frame");
      all.back().spillStoreBytes = numberBefore(line, "bytes spill stores");
      all.back().spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (!all.empty() && line.contains("Used ")) {
      all.back().registers = numberBefore(line, "registers");
      all.back().sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return all;
}

/// A file that is gone when this is.
struct TemporaryFile {
  llvm::SmallString<128> path;
  std::error_code error;
  llvm::FileRemover remover;
  explicit TemporaryFile(llvm::StringRef suffix) {
    error = llvm::sys::fs::createTemporaryFile("hocket-kernel", suffix, path);
    if (!error)
      remover.setFile(path);
  }
};
} // namespace

llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef architecture, const Toolkit &toolkit) {
  if (toolkit.ptxas.empty())
    return fault("ptxas was not found; it comes with CUDA (set CUDA_HOME to where CUDA is)");
  TemporaryFile source("ptx"), output("cubin"), log("txt");
  for (const TemporaryFile *file : {&source, &output, &log})
    if (file->error)
      return fault("cannot write a temporary file: " + file->error.message());
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(source.path, error);
    stream << ptx;
    stream.close();
    if (error || stream.has_error())
      return fault("cannot write " + source.path.str());
  }
  std::string architectureWord = ("-arch=" + architecture).str(), error;
  llvm::StringRef words[] = {toolkit.ptxas, "-v", "-O3", architectureWord, "-o", output.path, source.path};
  std::optional<llvm::StringRef> streams[] = {std::nullopt, llvm::StringRef(log.path), llvm::StringRef(log.path)};
  int status = llvm::sys::ExecuteAndWait(toolkit.ptxas, words, std::nullopt, streams, 0, 0, &error);
  auto said = llvm::MemoryBuffer::getFile(log.path);
  std::string text = said ? (*said)->getBuffer().trim().str() : "";
  if (status != 0)
    return fault("ptxas failed for " + architecture + (error.empty() ? "" : ": " + error) +
                 (text.empty() ? "" : ":\n" + text));
  auto bytes = llvm::MemoryBuffer::getFile(output.path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return fault("ptxas wrote no cubin: " + bytes.getError().message());
  return Cubin{architecture.str(), {(*bytes)->getBufferStart(), (*bytes)->getBufferEnd()}, parseFigures(text)};
}
} // namespace hocket::cuda
