// All that a Hocket tool can read: Hocket's dialects and what programs are lowered to.
#pragma once
namespace mlir {
class DialectRegistry;
}

namespace hocket {
void registerDialects(mlir::DialectRegistry &registry);
} // namespace hocket
