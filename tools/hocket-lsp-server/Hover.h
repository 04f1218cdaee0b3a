// What stands at a place: type, and under each plan of the file its sharding, shape and bytes on a rank.
#pragma once
#include "tools/hocket-lsp-server/Document.h"

namespace hocket::lsp {
/// `checked`: of this version; null while it is being made, and then the answer says so. None where nothing stands.
std::optional<llvm::lsp::Hover> hoverAt(Document &document, Position position, const Checked *checked);
} // namespace hocket::lsp
