// See Installation.h.
#include "tools/hocket/Installation.h"
#include "tools/hocket/RuntimeLibraries.h" // made by CMake: the linker's words
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fmt/format.h>
using namespace hocket;

/// The folder lib beside that of the running program; links to the program lead to the same folder.
static std::string libraryFolder() {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&libraryFolder));
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(program)));
  llvm::sys::path::append(folder, "lib");
  return std::string(folder);
}

std::optional<cpu::LinkInputs> tools::linkInputs(Session &session) {
  unsigned before = session.errors();
  std::string folder = libraryFolder();
  cpu::LinkInputs inputs{HOCKET_COMPILER, {}, {}};
  for (const char *archive : {HOCKET_RUNTIME_ARCHIVES}) {
    inputs.libraries.push_back(folder + "/" + archive);
    if (!llvm::sys::fs::exists(inputs.libraries.back()))
      session.error(fmt::format("the runtime's library '{}' is missing: this installation of Hocket is not whole",
                                inputs.libraries.back()));
  }
  if (!llvm::sys::fs::can_execute(inputs.compiler))
    session.error(
        fmt::format("'{}', which links executables, is missing (Debian's package clang-22)", inputs.compiler));
  for (const char *library : {HOCKET_SYSTEM_LIBRARIES})
    inputs.libraries.push_back(library);
  if (session.errors() != before)
    return std::nullopt;
  return inputs;
}
