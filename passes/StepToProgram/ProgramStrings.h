// The program file's table of strings, each once.
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace hocket::step {

class ProgramStrings {
public:
  ProgramStrings() { add(""); } ///< 0 is the empty string
  uint32_t add(llvm::StringRef text);
  std::vector<std::string> take() { return std::move(list); }

private:
  std::vector<std::string> list;
  llvm::StringMap<uint32_t> index;
};

/// The user's line of a location, "model.mlir:12:8": of the innermost place in a file. Empty if it has none.
std::string sourceOf(mlir::Location loc);
} // namespace hocket::step
