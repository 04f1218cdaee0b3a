// A training step with fewer layers that stands for a long one: of layers that are alike and follow one another, the
// first, the second and the last stay, and the second stands for all between. What a dropped layer gave to its
// neighbour comes from the nearest one that stays on its side, so that the program is whole and in order.
//
//   h.0 h.1 … h.94 h.95  ->  h.0 h.1 h.95, h.1 standing for 94
//
// A layer is what the first number in a path names (`h.3` in "h.3.attn"). Layers are alike if their ops are, in order,
// but for the number. A sum over all layers (the norm) sees the second in place of those that are gone. Where that
// cannot be done (a value used out of this order) the step is copied whole.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "mlir/IR/OwningOpRef.h"

namespace hocket::dist {

/// `h.3` of "h.3.attn.qkv" as ("h", 3); none if no component is a number.
std::optional<std::pair<llvm::StringRef, int64_t>> layerOf(llvm::StringRef path);

class ShortStep {
public:
  /// A module of its own, with copies of plan and mesh; of the whole step without `shorten`.
  static ShortStep of(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, bool shorten = true);

  mlir::ModuleOp getModule() const { return *module; }
  /// For how many layers the layer of `path` stands; 1 for what is in none.
  int64_t weight(llvm::StringRef path) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<int64_t> weights; ///< "h.1" -> 94
};
} // namespace hocket::dist
