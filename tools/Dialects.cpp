// Registers the dialects that Hocket's tools read.
#include "tools/Dialects.h"
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

void hocket::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<nn::NNDialect, dist::DistDialect, step::StepDialect>();
  // Scalar bodies, and functions around what tests hold.
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::func::FuncDialect>();
}
