// See Installation.h.
#include "tools/hocket/Installation.h"
#include "tools/hocket/RuntimeLibraries.h" // made by CMake: the linker's words
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fmt/format.h>
using namespace hocket;

/// A folder beside that of the running program ("lib"); links to the program lead to the same folder.
static std::string besideProgram(llvm::StringRef name) {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&besideProgram));
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(program)));
  llvm::sys::path::append(folder, name);
  return std::string(folder);
}

/// Reports what is missing of Hocket itself.
static void need(tools::Session &session, const std::string &path, llvm::StringRef what) {
  if (!llvm::sys::fs::exists(path))
    session.error(
        fmt::format("{} '{}' is missing: this installation of Hocket is not whole", llvm::StringRef(what).str(), path));
}

static void needCompiler(tools::Session &session, llvm::StringRef what) {
  if (!llvm::sys::fs::can_execute(HOCKET_COMPILER))
    session.error(fmt::format("'{}', which {}, is missing (Debian's package clang-22)", HOCKET_COMPILER, what.str()));
}

std::optional<cpu::LinkInputs> tools::linkInputs(Session &session) {
  unsigned before = session.errors();
  std::string folder = besideProgram("lib");
  cpu::LinkInputs inputs{HOCKET_COMPILER, {}, {}};
  for (const char *archive : {HOCKET_RUNTIME_ARCHIVES}) {
    inputs.libraries.push_back(folder + "/" + archive);
    need(session, inputs.libraries.back(), "the runtime's library");
  }
  needCompiler(session, "links executables");
  for (const char *library : {HOCKET_SYSTEM_LIBRARIES})
    inputs.libraries.push_back(library);
  if (session.errors() != before)
    return std::nullopt;
  return inputs;
}

std::optional<std::vector<std::string>> tools::buildCommand(Session &session, const std::string &source,
                                                            const std::string &output) {
  unsigned before = session.errors();
  std::string lib = besideProgram("lib"), include = besideProgram("include");
  need(session, lib + "/libhocket.so", "the library of the embedded language");
  need(session, include + "/hocket/hocket.h", "the header of the embedded language");
  needCompiler(session, "compiles models in C++");
  if (session.errors() != before)
    return std::nullopt;
  return std::vector<std::string>{HOCKET_COMPILER, "-std=c++20", "-fuse-ld=lld", "-I" + include,     source, "-o",
                                  output,          "-L" + lib,   "-lhocket",     "-Wl,-rpath," + lib};
}
