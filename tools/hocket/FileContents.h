// What a model file may hold. MLIR would take more: ops of other dialects beside the models, and attributes that nobody
// reads behind any op. A file that says something which then does not happen is a fault.
#pragma once

namespace hocket::tools {
class Session;

/// Reports every op that has no place at the top of a model file, every attribute that nobody reads, and every model of
/// several that no recipe trains.
void checkFileContents(Session &session);
} // namespace hocket::tools
