// Memory that the system refuses, and files that it lets grow no more, as faults of this machine: one line and exit
// status 4, where LLVM would dump its stack and ask for a report.
#pragma once

namespace hocket::tools {
/// To be called after llvm::InitLLVM, which sets handlers of its own. A write that finds no room fails as any other; what
/// llvm::sys::RemoveFileOnSignal was told of is removed.
void endPlainlyWithoutRoom();
} // namespace hocket::tools
