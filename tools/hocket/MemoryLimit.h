// --memory: what a rank may use of its device.
#pragma once
#include "runtime/Program/program_generated.h"
#include "tools/hocket/Session.h"

namespace CLI {
class App;
}

namespace hocket::tools {

/// Adds --memory BYTES to a command; `what`: what it is for there.
void addMemoryFlag(CLI::App &command, std::optional<uint64_t> &bytes, const std::string &what);

/// Errors with the numbers of every rank program that needs more than the limit; true if none does, or none is given.
bool fitsInto(Session &session, const program::ProgramT &program, std::optional<uint64_t> limitBytes);

/// While it lives no warning or remark is told: what is tried under a limit may not be what is taken, and that is
/// lowered again.
class Trial {
public:
  explicit Trial(Session &session);

private:
  mlir::ScopedDiagnosticHandler silence;
};
} // namespace hocket::tools
