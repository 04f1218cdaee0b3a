// A builder that writes the inside of a kernel: loops, pieces of rows as vectors, reductions in a fixed lane structure.
// Both targets use it; what differs is in Arithmetic, and how memory is read and written (CUDA/GpuEmit.h).
//
// bf16 and f16 exist in memory alone: a load widens them to f32, a store rounds to them (to nearest, ties to even; NaN
// stays NaN), with the same bits on every CPU, whether it has instructions for that or not (see NarrowFloats.cpp).
#pragma once
#include "dialect/NN/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hocket::codegen {
enum class Reduction : uint8_t { Sum, Max };

/// True for bf16 and f16.
bool isNarrow(mlir::Type element);
using nn::scalarType; // in which numbers of an element type are computed

/// What a target computes with.
struct Arithmetic {
  /// Elements that are worked on at once. A row reduction on a CPU has as many partial sums: it is part of what a
  /// reduction means (its rounding), so it does not depend on the CPU.
  int64_t lanes;
  bool fma = false;
  bool halfConversion = false; ///< instructions between f16 and f32
  bool nativeNarrow = false;   ///< bf16 and f16 are types of the machine, which converts them
};

class Emit : public mlir::ImplicitLocOpBuilder {
public:
  /// `entry`: where stack arrays are made.
  Emit(mlir::Location loc, mlir::Block *entry, Arithmetic arithmetic);
  virtual ~Emit() = default;

  bool hasFma() const { return arithmetic.fma; }
  int64_t lanes() const { return arithmetic.lanes; }
  mlir::Type pointerType();
  mlir::VectorType vectorOf(mlir::Type element) { return mlir::VectorType::get({lanes()}, element); }

  // i64 arithmetic; constants are folded
  mlir::Value i64(int64_t value);
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value plus(mlir::Value a, int64_t b) { return plus(a, i64(b)); }
  mlir::Value minus(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, int64_t b);
  mlir::Value over(mlir::Value a, int64_t b);
  mlir::Value modulo(mlir::Value a, int64_t b);
  mlir::Value least(mlir::Value a, mlir::Value b);
  mlir::Value greatest(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// An integer of any width as i64.
  mlir::Value widen(mlir::Value integer);

  // numbers and vectors of them; a scalar beside a vector is repeated
  mlir::Value number(double value, mlir::Type like); ///< integer or float, scalar or vector
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value mulAdd(mlir::Value a, mlir::Value b, mlir::Value c); ///< a b + c
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value exp(mlir::Value x);
  mlir::Value repeat(mlir::Value scalar, int64_t count);
  mlir::Value repeat(mlir::Value scalar) { return repeat(scalar, lanes()); }
  mlir::Value combine(Reduction kind, mlir::Value a, mlir::Value b);
  mlir::Value neutral(Reduction kind, mlir::Type like);
  /// Joins the lanes of a vector: halves are joined until one element is left.
  mlir::Value joinLanes(Reduction kind, mlir::Value vector);

  /// A number (or vector) of scalarType as it is after a store to `element` and a load: as it is, unless narrow.
  mlir::Value rounded(mlir::Type element, mlir::Value value);

  // memory, which holds `element`s; offsets in elements; `mask` (which lanes there are) may be null for all
  mlir::Value address(mlir::Type element, mlir::Value base, mlir::Value offset);
  virtual mlir::Value load(mlir::Type element, mlir::Value base, mlir::Value offset);
  virtual void store(mlir::Type element, mlir::Value value, mlir::Value base, mlir::Value offset);
  virtual mlir::Value loadVector(mlir::Type element, mlir::Value base, mlir::Value offset, mlir::Value mask);
  virtual void storeVector(mlir::Type element, mlir::Value value, mlir::Value base, mlir::Value offset,
                           mlir::Value mask);
  /// Elements base[offset + lane * stride]; lanes without mask read zero. Narrow elements are gathered one by one.
  mlir::Value gather(mlir::Type element, mlir::Value base, mlir::Value offset, int64_t stride, mlir::Value mask);
  void scatter(mlir::Type element, mlir::Value value, mlir::Value base, mlir::Value offset, int64_t stride,
               mlir::Value mask);
  mlir::Value stackArray(mlir::Type element, int64_t count);
  void zero(mlir::Type element, mlir::Value base, int64_t count); ///< count a multiple of `lanes`

  mlir::Value laneNumbers(); ///< vector of i32: 0, 1, 2, …
  /// Lanes below `count` (any i64).
  mlir::Value lanesBelow(mlir::Value count);
  mlir::Value both(mlir::Value maskA, mlir::Value maskB); ///< either may be null

  /// for (i = begin; i < end; i += step)
  void loop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange start,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then);

protected:
  void setLanes(int64_t lanes) { arithmetic.lanes = lanes; }
  /// What memory holds of an element type: i16 for bf16 and f16, where they are no types of the machine.
  mlir::Type storageType(mlir::Type element);
  mlir::Value fromStorage(mlir::Type element, mlir::Value stored);
  mlir::Value toStorage(mlir::Type element, mlir::Value value);

private:
  mlir::Value like(mlir::Value shape, mlir::Type element, uint32_t bits); ///< an integer, repeated as `shape` is
  mlir::Value fromHalfBits(mlir::Value bits);
  mlir::Value toHalfBits(mlir::Value value);
  std::pair<mlir::Value, mlir::Value> alike(mlir::Value a, mlir::Value b);
  mlir::Value addresses(mlir::Type element, mlir::Value base, mlir::Value offset, int64_t stride);
  mlir::Block *entry;
  Arithmetic arithmetic;
};
} // namespace hocket::codegen
