// Makes nn.elementwise ops in place from a few lines of scalar arithmetic.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {

/// Scalar arithmetic at the builder's place, on floats unless it says otherwise.
struct Scalars {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value constant(double value, mlir::Type type) const;
  mlir::Value integer(int64_t value) const; ///< i64
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value div(mlir::Value a, mlir::Value b) const;
  mlir::Value min(mlir::Value a, mlir::Value b) const;
  mlir::Value sqrt(mlir::Value a) const;
  mlir::Value log(mlir::Value a) const;
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;
  mlir::Value max(mlir::Value a, mlir::Value b) const;
  mlir::Value equal(mlir::Value a, mlir::Value b) const;
  mlir::Value notEqual(mlir::Value a, mlir::Value b) const; ///< true for NaN
  mlir::Value atMost(mlir::Value a, mlir::Value b) const;   ///< false for NaN
  mlir::Value notBelow(mlir::Value a, mlir::Value b) const; ///< true for NaN
  mlir::Value toFloat(mlir::Value integer, mlir::Type type) const;
};

/// An elementwise op called `name` with one result of type `type`; `body` gets one scalar an operand.
mlir::Value makeElementwise(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                            mlir::RankedTensorType type, mlir::ValueRange operands,
                            llvm::function_ref<mlir::Value(const Scalars &, mlir::ValueRange)> body);
/// The same with a result of each of `types`.
llvm::SmallVector<mlir::Value>
makeElementwise(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, mlir::TypeRange types,
                mlir::ValueRange operands,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(const Scalars &, mlir::ValueRange)> body);
} // namespace hocket::nn
