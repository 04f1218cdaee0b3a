// The order of a body's ops under overlap, and its awaits (internal to step-overlap). Values decide what may move: an
// op moves only where all its operands are made, and a load or store never past a store to, or a load of, its buffer.
// So every op computes what it did, and each accumulator is added to in the order it was.
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {

class OverlapOrder {
public:
  explicit OverlapOrder(BodyOp body) : block(body.getBody().front()) {}

  /// Starts each collective when its operand is there, and where that can be made of what is loaded by movement alone,
  /// no later than the first use of the one before it: one ahead of its use, so that no more than two are held at once
  /// beyond what is in use. The first one starts with the body.
  void startAhead(llvm::ArrayRef<CollectiveOp> collectives);
  /// What only leads from a result to stores waits for the start of the next of `collectives`, and of the last one for
  /// the end of the body.
  void useLate(llvm::ArrayRef<CollectiveOp> collectives);
  /// Moves weight gradients that do not need it before the first use of each result.
  void fill(llvm::ArrayRef<CollectiveOp> collectives);
  /// Takes back to the stream that computes what no work is beside.
  void dropIdle(llvm::ArrayRef<CollectiveOp> collectives);
  /// An await before whatever cannot go on without one, and for every stream at the end of the body.
  void placeAwaits();

  /// The first op that uses a value; null: none.
  mlir::Operation *firstUser(mlir::Value value) const;
  /// The first op that takes time.
  mlir::Operation *firstWork() const;
  /// Moves `op`, and what makes its operands, before `before`, as far as it stands behind and may.
  void raise(mlir::Operation *op, mlir::Operation *before);

private:
  bool isLoaded(mlir::Value value) const;
  void raiseToOperands(mlir::Operation *op);
  bool leadsToStores(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &way) const;
  bool touchesBetween(mlir::Value buffer, mlir::Operation *from, mlir::Operation *to) const;

  mlir::Block &block;
};
} // namespace hocket::step
