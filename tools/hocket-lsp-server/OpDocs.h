// What the op definitions say of each op, for a person who points at one.
#pragma once
#include <string>

namespace hocket::lsp {
/// Markdown: summary and description of "nn.linear"; empty if there is no such op.
std::string opDoc(const std::string &op);
} // namespace hocket::lsp
