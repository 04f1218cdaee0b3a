// How the dimensions of one op's operands and results relate, and how the op is linear: all that sharding needs to know.
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace hocket::nn {

/// One index of an op. `whole`: it must not be split (a norm's row, rotary pairs); a value split along it is gathered first.
/// `needsOffset`: once split, the op must be told where its shard begins (rows of a vocabulary).
struct Factor {
  std::string name;
  int64_t size = 1;
  bool whole = false;
  bool needsOffset = false;
};

/// How an operand may be partial (a sum over ranks not yet taken):
///   None   it must be reduced first                                     layer_norm's x
///   Multi  it may be partial if no other operand is; so is the result    linear's x, or its w
///   Joint  all joint operands must be partial over the same axes         add's two, stack's many, the one of a cast
///          of summands
enum class Linearity { None, Multi, Joint };

/// What joins the pieces of a result whose factor is split and is not among its dimensions.
enum class ReductionKind { Sum, Max, Min };

struct FactorRule {
  llvm::SmallVector<Factor> factors;
  /// For each operand (result), for each dimension, the index of its factor. Scalars (i64, rank 0) have none.
  llvm::SmallVector<llvm::SmallVector<int>> operands, results;
  llvm::SmallVector<Linearity> linearity; ///< one an operand
  ReductionKind reduction = ReductionKind::Sum;
  /// What padding of a split factor must hold where the op reduces over it: the neutral element of what it does.
  ///   0 for sums and products, -inf for row_max and for row_sum_exp (exp makes it 0)
  double padding = 0;

  /// Reads "b s !h, !h -> b s !h" for `op`: one term an operand, one name a dimension; `!` whole, `@` needs an offset.
  /// "_" stands for a term without dimensions. Sizes come from the op's types. Linearity is None for every operand.
  static FactorRule parse(mlir::Operation *op, llvm::StringRef text);
  FactorRule &linear(llvm::ArrayRef<Linearity> each);
  FactorRule &reducedBy(ReductionKind kind); ///< sets padding too: -inf for Max, inf for Min
  FactorRule &padded(double value);
  int find(llvm::StringRef name) const; ///< -1 if there is none
  std::string str() const;              ///< the text that `parse` reads
};

/// Faults of a rule against its op (numbers of terms, dimensions, two sizes for one factor) as text; empty if sound.
std::string checkFactorRule(mlir::Operation *op, const FactorRule &rule);
/// `count` names: factorNames("d", 3) is "d0 d1 d2"; with first = 1, "d1 d2 d3".
std::string factorNames(llvm::StringRef prefix, int64_t count, int64_t first = 0);
} // namespace hocket::nn
