// What may stand at a place that is being written.
#pragma once
#include "tools/hocket-lsp-server/TextPlaces.h"

namespace hocket::lsp {
/// `text` as it is, unfinished most often. Between quotes of a plan: names of parameters and axes, read from `sound`,
/// the text as it last parsed, which may be empty.
llvm::lsp::CompletionList completionsAt(llvm::StringRef text, llvm::StringRef name, Position position,
                                        llvm::StringRef sound);
} // namespace hocket::lsp
