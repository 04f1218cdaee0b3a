// What each instruction writes, as the program file tells it to --check-finite: type, whole shape and split, name, and
// the infinities that belong there. Those are
//   - the neutral element of a value that is still to be reduced by max or min (of its sharding): -inf or inf
//   - what comes of an infinite constant of an elementwise body (a mask) through elementwise ops, sums, products and
//     data movement; not through reductions, norms, attention and matrix products, after which all is finite again
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/StepToProgram/Communicators.h"
#include "passes/StepToProgram/ProgramStrings.h"

namespace hocket::step {

class WrittenValues {
public:
  WrittenValues(ProgramStrings &strings, const Communicators &communicators, mlir::ModuleOp module)
      : strings(strings), communicators(communicators), symbols(module) {}

  /// Of a launch, gemm or collective, in the order in which the program runs them. Buffers are counted inputs first;
  /// values that are no floating-point numbers are left out.
  std::vector<program::Written> of(mlir::Operation *work);
  std::vector<std::unique_ptr<program::LogicalShapeT>> take() { return std::move(shapes); }

private:
  /// Where infinities in a result of a kernel may come from.
  struct Origin {
    uint8_t constants = 0;
    llvm::SmallVector<unsigned> arguments;
  };
  const std::vector<Origin> &originsOf(LaunchOp launch);
  uint8_t infinitiesOf(BufferOp buffer, mlir::Operation *work, unsigned result);
  uint32_t shapeOf(BufferOp buffer);

  ProgramStrings &strings;
  const Communicators &communicators;
  mlir::SymbolTable symbols;
  llvm::StringMap<std::vector<Origin>> origins; ///< by kernel, of each result
  std::vector<std::unique_ptr<program::LogicalShapeT>> shapes;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, uint32_t> index; ///< of a buffer's type and shard
  llvm::DenseMap<mlir::Operation *, uint8_t> infinities; ///< that buffers hold since they were last written
};
} // namespace hocket::step
