// Where every split of every value came from: Origins.h for all values at once.
//
// From the slots that tactics split, breadth first over factors, for each atom through forward ops and then through
// all, so that each value finds the nearest slot and the ops on the way from it; linear in the program.
#pragma once
#include "passes/Dist/Origins.h"
#include <map>

namespace hocket::dist {

class OriginMap {
public:
  OriginMap(const Propagation &propagation, PlanOp plan);
  /// Of one atom that splits dimension `dim` of a value; no tactic where only propagation's rules gave it (a partial
  /// value joined into shards).
  Origin of(Node node, int dim, Atom atom) const;
  /// Of one atom that splits a factor of an op.
  Origin ofFactor(int op, int factor, Atom atom) const;

private:
  using Place = std::tuple<Node, int, Atom>;
  struct Step {
    Place from;
    int op = -1; ///< through which the search came here; -1 at the start and across a handover
    mlir::Operation *tactic = nullptr;
    bool start = false;
  };
  void search(Atom atom);
  void expand(llvm::SmallVectorImpl<Place> &queue, Atom atom, bool forwardOnly);
  void visit(Place place, const Step &step, llvm::SmallVectorImpl<Place> &queue);

  const Propagation &propagation;
  PlanOp plan;
  std::map<Place, Step> steps;
};
} // namespace hocket::dist
