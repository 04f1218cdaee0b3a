// The language server: takes messages of the protocol, answers from documents, and sends faults.
#pragma once
#include "llvm/Support/LSP/Transport.h"

namespace hocket::lsp {
/// Until the client leaves; the exit status. `beside`: plans are checked in a thread of their own (else a message waits
/// for them, and the order of answers is fixed, for tests).
int serve(llvm::lsp::JSONTransport &transport, bool beside);
} // namespace hocket::lsp
