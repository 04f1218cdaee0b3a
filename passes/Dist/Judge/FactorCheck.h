// Judges an op of the mathematics by its factor rule and its linearity.
#pragma once
#include "passes/Dist/Judge/Claims.h"

namespace hocket::dist::judge {

/// How one factor of an op is split, as the first value that has it says.
struct FactorSplit {
  bool known = false;              ///< some operand has it; else only results have it, and their claims decide
  mlir::OpOperand *from = nullptr; ///< that operand
  int64_t size = 0;                ///< of the whole dimension
  Cuts cuts;
};

/// Checks C5 to C13, then those of IndexCheck.h.
class FactorCheck {
public:
  FactorCheck(Claims &claims, nn::FactorOpInterface op);
  void run();

private:
  const ValueState *stateOf(mlir::OpOperand &operand) const { return claims.of(operand.get()); }
  mlir::InFlightDiagnostic refuse(); ///< an error at the op
  bool gatherSplits();
  void checkAlike(mlir::OpOperand &operand, int64_t dim, int factor);
  void checkWhole();
  void checkOneAxisOneFactor();
  void checkPartialOperands();
  void checkPartialBeside(mlir::OpOperand &operand);
  void checkMulti();
  void checkJoint();
  void checkResult(mlir::OpResult result);
  void setFreeFactors();
  ValueState expected(mlir::OpResult result, const ValueState &claimed) const;

  Claims &claims;
  const MeshAtoms &mesh;
  mlir::Operation *op;
  bool fault = false;
  nn::FactorRule rule;
  llvm::SmallVector<FactorSplit> splits; ///< by factor
};
} // namespace hocket::dist::judge
