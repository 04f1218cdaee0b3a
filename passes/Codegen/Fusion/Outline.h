// Kernels as functions of the module.
#pragma once
#include "passes/Codegen/Fusion/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace hocket::codegen {
class KernelLibrary {
public:
  /// Knows the kernels that `module` already has.
  explicit KernelLibrary(mlir::ModuleOp module);
  /// Makes a kernel of `ops` (or finds one that prints alike) and a launch of it at the builder's place; the launch's
  /// results take the place of what is used elsewhere. The ops are left without uses, for the caller to erase.
  void launch(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops);

private:
  mlir::func::FuncOp findOrInsert(mlir::OwningOpRef<mlir::func::FuncOp> made, llvm::ArrayRef<mlir::Operation *> ops);
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> known; ///< by the text without its name
};
} // namespace hocket::codegen
