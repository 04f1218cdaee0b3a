// The ops of a training step with their factor rules, and what their values share: a read of a slot is the slot. Passes
// of this folder walk this graph; they know ops by their factors only.
#pragma once
#include "dialect/NN/NN.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace hocket::dist {

using Node = int; ///< index of a value or slot

/// An op with factors. Dimension d of operand i runs over factor rule.operands[i][d].
struct StepOp {
  mlir::Operation *op;
  nn::FactorRule rule;
  llvm::SmallVector<Node> operands, results;
  mlir::Region *region;
};

class StepGraph {
public:
  /// Fails, with an error, at an op without a factor rule.
  static llvm::FailureOr<StepGraph> create(nn::TrainingStepOp step);

  nn::TrainingStepOp step;
  llvm::SmallVector<StepOp, 0> ops;        ///< in program order
  llvm::DenseMap<mlir::Value, Node> nodes; ///< every result; reads of one slot that holds whole values share a node
  llvm::MapVector<mlir::Operation *, Node> slots;  ///< slot op to its node
  llvm::SmallVector<mlir::RankedTensorType> types; ///< of each node
  /// For each node, what uses it: (index into ops, operand), and what makes it: (index into ops, result).
  llvm::SmallVector<llvm::SmallVector<std::pair<int, int>, 4>, 0> uses, makers;
  llvm::DenseMap<mlir::Operation *, int> opIndex;
  llvm::SmallVector<std::pair<Node, Node>> handovers;              ///< value written, slot of kind value that takes it
  llvm::DenseMap<Node, llvm::SmallVector<Node, 1>> acrossHandover; ///< the same from each side

  nn::SlotOp slotOf(mlir::Operation *readOrWrite) const; ///< null if the op is neither, or its slot is not declared
  bool isSlot(Node node) const { return node < static_cast<Node>(slots.size()); }
  nn::SlotOp slotAt(Node node) const { return llvm::cast<nn::SlotOp>(slots.begin()[node].first); }
  /// The slot that a node is, or of which it is a read with a node of its own; null for all other values.
  nn::SlotOp slotBehind(Node node) const {
    return isSlot(node) ? slotAt(node) : llvm::cast_or_null<nn::SlotOp>(ownReads.lookup(node));
  }

private:
  llvm::LogicalResult addRegion(mlir::Region &region);
  Node addNode(mlir::Type type);
  llvm::DenseMap<std::pair<int, mlir::StringAttr>, mlir::Operation *> byName;
  llvm::DenseMap<Node, mlir::Operation *> ownReads; ///< reads with a node of their own, to the slot
};
} // namespace hocket::dist
