// Where the compiler's own files lie: in ../lib and ../include of the program, in the build folder as under an
// installed prefix.
#pragma once
#include "passes/Codegen/CPU/Kernels.h"
#include "tools/hocket/Session.h"

namespace hocket::tools {
/// How executables are linked. Nothing, after a report that names all that is missing, if the installation is not
/// whole.
std::optional<cpu::LinkInputs> linkInputs(Session &session);
/// The words that build the C++ program `source`, which writes a model, to `output`. Nothing after a report, as above.
std::optional<std::vector<std::string>> buildCommand(Session &session, const std::string &source,
                                                     const std::string &output);
} // namespace hocket::tools
