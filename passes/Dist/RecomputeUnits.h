// Which part of the model each `recompute` tactic means, op by op.
//
// A pattern names a part by its path, and all that lies in it. The unit that is made again as one is the part named,
// but never more than one layer:
//   "h.*"        h.0, h.1, …               "h.*.attn"   h.0.attn, h.1.attn, …
//   "h"          every layer of h          no pattern   every layer of the model, and nothing outside of layers
//   "ln_f"       what stands under ln_f
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringMap.h"

namespace hocket::dist {

class RecomputeUnits {
public:
  struct Unit {
    RecomputeOp tactic;
    std::string name; ///< path
    Recompute kind() const { return RecomputeOp(tactic).getKind(); }
  };

  /// Of the microbatch of `step`. Errors, all in one run: a tactic that names nothing (the nearest name is offered),
  /// two that name one op with different kinds, `auto`, which stands for other tactics once the memory is known.
  static llvm::FailureOr<RecomputeUnits> create(nn::TrainingStepOp step, PlanOp plan);

  /// The unit of an op by its path, whatever its phase; null for what no tactic names.
  const Unit *of(mlir::Operation *op) const;
  /// The unit of a path under a pattern (none: all layers); "" where it is not named.
  static std::string unitOf(std::optional<llvm::StringRef> pattern, llvm::StringRef path);
  /// The layer that an op is in, "h.3"; "" for none.
  static std::string layer(mlir::Operation *op);

private:
  bool add(RecomputeOp tactic, llvm::StringRef path);
  void addAll(RecomputeOp tactic, nn::TrainingStepOp step);
  llvm::StringMap<std::optional<Unit>> units; ///< by the path of ops
  llvm::StringMap<RecomputeOp> conflicts;     ///< tactics that were told to be in conflict, by the other's text
  bool sound = true;
};
} // namespace hocket::dist
