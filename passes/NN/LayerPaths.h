// To which group of its layer an op belongs ("attn.qkv"), found from the names of the parameters around it.
#pragma once
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseMap.h"

namespace hocket::nn {

/// "h.3" and "attn" make "h.3.attn"; an empty part adds nothing.
std::string joinPath(llvm::StringRef prefix, llvm::StringRef name);

/// The group of a parameter: its name without the last component, or the name itself if it has only one.
///   h.3.attn.qkv.weight -> h.3.attn.qkv;  wte -> wte
llvm::StringRef parameterGroup(llvm::StringRef name);

/// The components that both begin with: h.3.attn.qkv and h.3.attn.proj -> h.3.attn; ln_1 and ln_2 -> "".
llvm::StringRef commonPath(llvm::StringRef a, llvm::StringRef b);

/// For every placed op of `body` (the body of a block or model before inlining), its group within the body; "" for
/// none. Calls count as neighbours under the name that they give their layer. `isModel`: names of one component are
/// groups.
llvm::DenseMap<mlir::Operation *, std::string> groupOps(mlir::Block &body, bool isModel);

/// After inlining: names the uses of tied parameters (`wte#1`) and gives ops in no group the path of the op that made
/// their last operand.
void finishPaths(ModelOp model);
} // namespace hocket::nn
