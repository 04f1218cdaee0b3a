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
llvm::Error lacking(const llvm::Twine &message) { return llvm::make_error<MachineLacking>(message); }

/// "FILE, line 7; error   : …" is said of PTX. Without a line ptxas speaks of itself, and "Unsupported .version" and
/// ".target" of a ptxas too old for ours.
bool refusesPtx(llvm::StringRef said) {
  return llvm::any_of(llvm::split(said, '\n'), [](llvm::StringRef line) {
    return line.contains(", line ") && (line.contains("; error ") || line.contains("; fatal ")) &&
           !line.contains("Unsupported .");
  });
}

/// Enough of it: what is wrong with a kernel may be said of each of its thousand lines.
std::string firstLines(llvm::StringRef said) {
  constexpr size_t most = 5;
  llvm::SmallVector<llvm::StringRef> lines;
  said.split(lines, '\n');
  size_t more = lines.size() > most ? lines.size() - most : 0;
  lines.truncate(lines.size() - more);
  return llvm::join(lines, "\n") + (more ? "\n… and " + std::to_string(more) + " more lines" : "");
}

llvm::Error failed(const Toolkit &toolkit, llvm::StringRef architecture, int status, const std::string &error,
                   llvm::StringRef said) {
  std::string text = toolkit.ptxas + " failed for " + architecture.str();
  text += status > 0 ? " with exit status " + std::to_string(status) : error.empty() ? "" : ": " + error;
  text += said.empty() ? " and said nothing" : "; it said:\n" + firstLines(said);
  if (!refusesPtx(said))
    return lacking(text);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "a fault of the compiler: " + text);
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
    return lacking("ptxas was not found; it comes with CUDA (set CUDA_HOME to where CUDA is)");
  TemporaryFile source("ptx"), output("cubin"), log("txt");
  for (const TemporaryFile *file : {&source, &output, &log})
    if (file->error)
      return lacking("cannot write a temporary file: " + file->error.message());
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(source.path, error);
    stream << ptx;
    stream.close();
    if (error || stream.has_error()) {
      error = error ? error : stream.error();
      stream.clear_error();
      return lacking("cannot write " + source.path.str() + ": " + error.message());
    }
  }
  std::string architectureWord = ("-arch=" + architecture).str(), error;
  llvm::StringRef words[] = {toolkit.ptxas, "-v", "-O3", architectureWord, "-o", output.path, source.path};
  std::optional<llvm::StringRef> streams[] = {std::nullopt, llvm::StringRef(log.path), llvm::StringRef(log.path)};
  int status = llvm::sys::ExecuteAndWait(toolkit.ptxas, words, std::nullopt, streams, 0, 0, &error);
  auto said = llvm::MemoryBuffer::getFile(log.path);
  std::string text = said ? (*said)->getBuffer().trim().str() : "";
  if (status != 0)
    return failed(toolkit, architecture, status, error, text);
  auto bytes = llvm::MemoryBuffer::getFile(output.path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return lacking("ptxas wrote no cubin: " + bytes.getError().message());
  return Cubin{architecture.str(), {(*bytes)->getBufferStart(), (*bytes)->getBufferEnd()}, parseFigures(text)};
}
} // namespace hocket::cuda
