// Where the compiler's own files lie: in ../lib of the program, in the build folder as under an installed prefix.
#pragma once
#include "passes/Codegen/CPU/Kernels.h"
#include "tools/hocket/Session.h"

namespace hocket::tools {
/// How executables are linked. Nothing, after a report that names all that is missing, if the installation is not
/// whole.
std::optional<cpu::LinkInputs> linkInputs(Session &session);
} // namespace hocket::tools
