// That what is made again in backward is what forward made, bit for bit.
//
//   C27  an op of phase recompute does what an op of phase forward of the same path does, attribute by attribute, and
//        of the same values: those of forward themselves, or what has been shown to be made again of them (gathers of
//        backward are known for such as well). Both read no slot that the microbatch writes, and forward uses nothing
//        that is made again.
#pragma once
#include "passes/Dist/Judge/Claims.h"

namespace hocket::dist::judge {

class RecomputeCheck {
public:
  explicit RecomputeCheck(Claims &claims) : claims(claims) {}
  void run(mlir::Region &microbatch);

private:
  mlir::Operation *original(mlir::Operation *op) const;
  mlir::Value meant(mlir::Value value) const;
  void checkOperands(mlir::Operation *op);

  Claims &claims;
  /// Ops of forward by what they do, wherever they stand.
  llvm::DenseMap<std::pair<mlir::OperationName, mlir::Attribute>, llvm::SmallVector<mlir::Operation *>> forward;
  llvm::DenseMap<mlir::Value, mlir::Value> copies; ///< made again -> of forward
  llvm::DenseSet<mlir::Value> faulty;              ///< told where they are made
  llvm::DenseSet<std::pair<int, llvm::StringRef>> written;
};
} // namespace hocket::dist::judge
