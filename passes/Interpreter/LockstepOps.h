// How the reference interpreter runs ops that are not nn's own: collectives, and numbers that depend on the rank. A
// library that has such ops registers a function for each by name; the interpreter itself knows none.
#pragma once
#include "dialect/NN/HostTensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <string>
#include <vector>

namespace hocket::interpreter {

/// One value on all ranks, by rank.
using PerRank = std::vector<nn::HostTensor>;

/// Who takes part. Rank = row-major over the axes; no axes: one rank.
struct RankGrid {
  struct Axis {
    std::string name;
    int64_t size;
  };
  std::vector<Axis> axes;
  int64_t ranks() const;
  /// Index of `rank` along the axis `name`; 0 if there is none of that name.
  ///   <pp=2, dp=2, tp=2>, rank 5: pp 1, dp 0, tp 1
  int64_t coordinate(int64_t rank, llvm::StringRef name) const;
};

/// Fills `results` (one PerRank a result of `op`; shapes set, elements NaN) from `operands` on all ranks at once.
/// Fails, with an error at the op, where the operands do not agree.
using LockstepFunction =
    std::function<llvm::LogicalResult(mlir::Operation *op, llvm::ArrayRef<const PerRank *> operands,
                                      llvm::MutableArrayRef<PerRank> results, const RankGrid &grid)>;

class LockstepOps {
public:
  /// `name` with its dialect: "dist.all_reduce".
  void add(llvm::StringRef name, LockstepFunction function) { functions[name] = std::move(function); }
  /// Null if there is none.
  const LockstepFunction *find(llvm::StringRef name) const;

private:
  llvm::StringMap<LockstepFunction> functions;
};
} // namespace hocket::interpreter
