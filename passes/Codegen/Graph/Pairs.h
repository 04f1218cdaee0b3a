// Numbers of about 48 bits as unrounded sums hi + lo of two f32 (Dekker 1971; Knuth, The Art of Computer Programming 2,
// 4.2.2), for formulas whose terms cancel. A product's rounding error is one fma more, a sum's three to five additions.
// Without fma (a CPU's choice, see Arithmetic) a product has no `lo`: the pair is then as exact as one f32.
#pragma once
#include "passes/Codegen/Graph/Emit.h"
#include <array>

namespace hocket::codegen {
/// Two f32 or vectors of them.
struct Pair {
  mlir::Value hi, lo;
};

/// number * scale[0] * scale[1]. The scales are powers of two, so that only a result below the smallest normal number
/// is rounded by them.
struct Scaled {
  Pair number;
  std::array<mlir::Value, 2> scale;
};

class Pairs {
public:
  explicit Pairs(Emit &e) : e(e) {}
  Pair number(double value, mlir::Type type); ///< `type`: f32 or a vector of it
  Pair split(mlir::Value f64);
  Pair product(mlir::Value a, mlir::Value b); ///< a b
  Pair sum(mlir::Value a, mlir::Value b);     ///< a + b
  Pair ordered(mlir::Value a, mlir::Value b); ///< a + b where |a| >= |b| or a is 0
  Pair product(Pair a, mlir::Value b);
  Pair product(Pair a, Pair b);
  Pair sum(Pair a, Pair b);
  Pair quotient(Pair a, Pair b);
  Pair sqrt(Pair a);
  /// e^a for -400 <= a.hi <= 0, with an error below 2^-25 of it; 0 below e^-160. Cody and Waite's reduction: with
  /// a = k ln 2 + r, e^r is a polynomial.
  Scaled exponential(Pair a);
  mlir::Value rounded(Pair a) { return e.add(a.hi, a.lo); }
  mlir::Value negated(mlir::Value a) { return mlir::arith::NegFOp::create(e, a); }
  mlir::Value scaled(mlir::Value a, const Scaled &by) { return e.mul(e.mul(a, by.scale[0]), by.scale[1]); }

private:
  Emit &e;
};

/// The two f32 of a number known while compiling.
std::pair<float, float> splitNumber(double value);
} // namespace hocket::codegen
