// Where the split of a value came from: the nearest slot that a tactic splits, and the ops on the way from it.
#pragma once
#include "passes/Dist/Propagation.h"
#include "passes/Dist/Tactics.h"

namespace hocket::dist {

struct Origin {
  mlir::Operation *tactic = nullptr;            ///< null if no tactic is found
  nn::SlotOp slot;                              ///< that the tactic splits
  llvm::SmallVector<mlir::Operation *> through; ///< from the slot to the value; empty if the slot itself was asked for
};

/// Answers by search, breadth first, over the values that one factor after another ties together; quadratic only if
/// asked for every value.
class Origins {
public:
  Origins(const Propagation &propagation, PlanOp plan) : propagation(propagation), plan(plan) {}
  Origin ofValue(Node node, int dim, Atom atom) const;
  Origin ofFactor(int op, int factor, Atom atom) const;
  /// Only the tactic; without a search where one tactic alone can have split over `atom`.
  mlir::Operation *tacticOfFactor(int op, int factor, Atom atom) const;

private:
  struct Step {
    Node node;
    int dim;
    int op;     ///< through which the search came here, -1 at the start
    int parent; ///< index of the step before, -1 at the start
  };
  Origin search(llvm::SmallVector<Step> queue, Atom atom) const;
  const Propagation &propagation;
  PlanOp plan;
};
} // namespace hocket::dist
