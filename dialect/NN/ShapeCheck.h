// What verifiers of the nn dialect say about shapes and element types. Every fault of an op is reported, not the first.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
/// Collects the faults of one op; `result()` fails if there was one.
///   ShapeCheck(op).floating({{"x", x}, {"gain", gain}}).fits("b s h, h -> b s h", "x, gain -> y").result()
class ShapeCheck {
public:
  struct Named {
    llvm::StringRef name;
    mlir::Value value;
  };
  explicit ShapeCheck(mlir::Operation *op) : op(op) {}

  /// Each operand and result has the dimensions of its term, and one name has one size everywhere (`?` equals only
  /// `?`). `names` has the form of `rule` and names the values in messages. Marks `!` and `@` are skipped, i64 operands
  /// too.
  ShapeCheck &fits(llvm::StringRef rule, llvm::StringRef names);
  /// The first has a float type, the others the same one.
  ShapeCheck &floating(llvm::ArrayRef<Named> values);
  /// Has the float type of `like`, or f32 where that is narrower: a result that is rounded once, after the sum.
  ShapeCheck &widened(Named value, Named like);
  /// `reason` follows in brackets: "that of a".
  ShapeCheck &element(Named value, mlir::Type expected, llvm::StringRef reason = "");
  /// False, and a fault, unless the rank lies in [least, most]; for rules whose text depends on the rank.
  bool rank(Named value, int64_t least, int64_t most = INT64_MAX, llvm::StringRef reason = "");
  /// A fault in free words, with the op's name in front.
  mlir::InFlightDiagnostic fault();
  bool sound() const { return !failed; }
  mlir::LogicalResult result() const { return mlir::failure(failed); }

private:
  mlir::Operation *op;
  bool failed = false;
};

/// Names for `count` leading dimensions: "b", "b s", "b s n", … ("" for none).
std::string leadingNames(int64_t count);
/// "a b" and "c" make "a b c"; an empty part adds no space.
std::string joinNames(llvm::StringRef first, llvm::StringRef second);
/// ", _" if the op has this optional operand (an offset), else "": the term of a scalar in a rule.
inline llvm::StringRef offsetTerm(mlir::Value offset) { return offset ? ", _" : ""; }

mlir::RankedTensorType tensorType(mlir::Value value);
/// The offset among the operands of an evaluation: operand `index`, or 0 if the op has no such operand.
int64_t offsetAmong(llvm::ArrayRef<const HostTensor *> operands, size_t index);
} // namespace hocket::nn
