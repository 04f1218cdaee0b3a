// Finds the program in an executable made by `hocket compile`, without running it.
#ifndef HOCKET_RUNTIME_PROGRAM_EXECUTABLE_H
#define HOCKET_RUNTIME_PROGRAM_EXECUTABLE_H

#include "runtime/Program/ProgramFile.h"
#include "runtime/Program/Result.h"
#include <memory>

namespace hocket::program {

// The section of an ELF file that holds the program file; the blob is also bracketed by the symbols
// hocket_program_begin and hocket_program_end.
inline constexpr char programSection[] = ".hocket.program";

// Owns a copy of the program file's bytes.
struct ExecutableProgram {
  struct Free {
    void operator()(uint8_t *bytes) const;
  };
  std::unique_ptr<uint8_t[], Free> bytes;
  const Program *program = nullptr;
};

// Appends a seal to a finished executable: a mark and the checksum of every byte before it, kernels included.
runtime::Status sealExecutable(const std::string &path);

// Reads and checks the program of `path`, and its seal. Faults name the path and what was found: no such file, not an
// ELF file, truncated, no program section, no seal, or what `open` says.
runtime::Result<ExecutableProgram> readExecutable(const std::string &path);
// Its seal alone, for a process that looks at its own file; messages speak of `name`.
runtime::Status checkSeal(const std::string &path, const std::string &name);

} // namespace hocket::program
#endif
