// Kernels as functions of the module.
#pragma once
#include "passes/Codegen/Fusion/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace hocket::codegen {
/// What goes into a kernel made of `ops` and what comes out, in order of first use and of definition.
struct Interface {
  explicit Interface(llvm::ArrayRef<mlir::Operation *> ops);
  llvm::SetVector<mlir::Value> tensors, numbers;
  llvm::SmallVector<mlir::Value> results;
};
/// A function @k of copies of `ops`, with hocket.in_place; in no module yet.
mlir::OwningOpRef<mlir::func::FuncOp> makeKernel(llvm::ArrayRef<mlir::Operation *> ops, const Interface &interface);
/// Kernels (called @k) that print alike mean the same.
std::string textOf(mlir::func::FuncOp kernel);
/// The words of a kernel's name: "adamw", "mul_sum", at most four.
std::string wordsFor(llvm::ArrayRef<mlir::Operation *> ops);
/// Of what a value is a shard; null where that is not known.
mlir::Attribute shardingOf(mlir::Value value);

class KernelLibrary {
public:
  /// Knows the kernels that `module` already has.
  explicit KernelLibrary(mlir::ModuleOp module);
  /// Makes a kernel of `ops` (or finds one that prints alike) and a launch of it at the builder's place; the launch's
  /// results take the place of what is used elsewhere. The ops are left without uses, for the caller to erase.
  void launch(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops);
  /// The kernel that prints as `made` does: one that is known, or `made` under `name` and some digits.
  mlir::func::FuncOp findOrInsert(mlir::OwningOpRef<mlir::func::FuncOp> made, llvm::StringRef name);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> known; ///< by the text without its name
};
} // namespace hocket::codegen
