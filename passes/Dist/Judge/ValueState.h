// What a local value is: a shard of a global tensor, split by dimension, partial over axes.
#pragma once
#include "passes/Dist/Judge/MeshAtoms.h"

namespace hocket::dist::judge {

struct ValueState {
  mlir::RankedTensorType global;
  llvm::SmallVector<Cuts> dims;
  Atoms partial; ///< ascending: the order in which partial values are joined has no meaning
  Reduction reduction = Reduction::Sum;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size(int64_t dim) const { return global.getDimSize(static_cast<unsigned>(dim)); }
  /// The dimension that `atom` splits, -1 if it splits none.
  int64_t splitBy(const Atom &atom) const;
  bool isPartialOver(const Atom &atom) const;
  void addPartial(llvm::ArrayRef<Atom> atoms); ///< those that are not there yet
};

/// True if both cut a dimension of n elements into the same shards.
///   {"tp":(1)2, "tp":(2)2} and {"tp"} of 4: of 8 elements yes, of 10 no (3 2 3 2 and 3 3 3 1)
bool sameSplit(int64_t n, const Cuts &a, const Cuts &b);
/// True if some shard is shorter than its local size.
bool hasPadding(int64_t n, const Cuts &cuts);
/// True if padding follows the last element only: no shard but the last ones has any.
///   6 over 4 (2 2 2 0) yes; 6 over 2 and then 2 (2 1 2 1) no
bool paddingOnlyAtEnd(int64_t n, const Cuts &cuts);
/// Same shards of the same global tensor, partial over the same axes by the same reduction.
bool sameState(const ValueState &a, const ValueState &b);

/// In words: "whole", "split over {"dp"} in dimension 0 and partial over {"tp"} by sum".
std::string describe(const MeshAtoms &mesh, const ValueState &state);
/// "split over {"dp"}" or "whole".
std::string describeCuts(const MeshAtoms &mesh, const Cuts &cuts);
/// "partial over {"tp"} by sum" or "not partial".
std::string describePartial(const MeshAtoms &mesh, const ValueState &state);
} // namespace hocket::dist::judge
