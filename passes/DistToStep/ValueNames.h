// Names for values that bodies leave for each other: the same on every stage, so that both ends of a message agree.
#pragma once
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseMap.h"

namespace hocket::step {

/// The name of each result in a block, as its op names it (h3_attn_qkv); the second of a name is `h3_add.2`.
llvm::DenseMap<mlir::Value, std::string> nameValues(mlir::Block &block);

/// A slot's name without '#': the use 1 of the tied parameter wte, "wte#1", is "wte.use1".
std::string cleanName(llvm::StringRef name);
} // namespace hocket::step
