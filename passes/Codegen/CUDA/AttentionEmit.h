// A builder that writes the inside of an attention kernel: 32-bit indices, numbers of f32, the two memories, and what a
// warp does together. Everything is the LLVM dialect, arith and scf with explicit alignments: what is written is what
// the assembler sees.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hocket::cuda {
enum class Join : uint8_t { Sum, Max, Least, Greatest }; ///< the last two of i32

class AttentionEmit : public mlir::ImplicitLocOpBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using mlir::ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  // indices of i32 (not negative); a pair of i32 and i64 is worked on as i64; constants are folded
  mlir::Value i32(int64_t value) { return mlir::arith::ConstantIntOp::create(*this, value, 32); }
  mlir::Value i64(int64_t value) { return mlir::arith::ConstantIntOp::create(*this, value, 64); }
  mlir::Value wide(mlir::Value index); ///< as i64
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value plus(mlir::Value a, int64_t b);
  mlir::Value minus(mlir::Value a, mlir::Value b);
  mlir::Value times(mlir::Value a, int64_t b);
  mlir::Value over(mlir::Value a, int64_t b);
  mlir::Value modulo(mlir::Value a, int64_t b);
  mlir::Value least(mlir::Value a, int64_t b); ///< the smaller of the two
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value below(mlir::Value a, int64_t b);    ///< a < b, without sign
  mlir::Value both(mlir::Value a, mlir::Value b); ///< either may be null
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b);

  // f32; products and sums may be contracted
  mlir::Value number(double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mulAdd(mlir::Value a, mlir::Value b, mlir::Value c); ///< a b + c, rounded once
  mlir::Value exp2(mlir::Value x);                                 ///< ex2.approx: two units in the last place
  mlir::Value join(Join kind, mlir::Value a, mlir::Value b);

  // memory; offsets in elements of `element`
  mlir::Value address(mlir::Type element, mlir::Value base, mlir::Value offset);
  mlir::Value load(mlir::Type type, mlir::Value address, int64_t alignment);
  void store(mlir::Value value, mlir::Value address, int64_t alignment);
  /// An f32 from an element of bf16, f16 or f32 (by its storage type), and back.
  mlir::Value widened(mlir::Value value);
  mlir::Value narrowed(mlir::Value f32, mlir::Type element);
  mlir::Value pair(mlir::Value a, mlir::Value b); ///< vector<2xT>
  mlir::Value elementOf(mlir::Value vector, int64_t index);

  // threads
  mlir::Value thread() { return mlir::NVVM::ThreadIdXOp::create(*this, getI32Type()); }
  mlir::Value block(int dimension);
  mlir::Value lane() { return modulo(thread(), 32); }
  mlir::Value warp() { return over(thread(), 32); }
  void barrier() { mlir::NVVM::Barrier0Op::create(*this); }
  void warpBarrier() { mlir::NVVM::SyncWarpOp::create(*this, i32(-1)); }
  /// Joins `value` over the lanes that differ in the bits of `lanes` (a power of two, its multiples up to `end`):
  /// butterfly(kind, v, 1, 4) joins groups of four neighbours.
  mlir::Value butterfly(Join kind, mlir::Value value, int64_t begin, int64_t end);

  /// for (i = begin; i < end; i += step), i32
  void loop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  Values loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange start,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// i = begin; while (i < end) { i, … = body(i, …) }: `body` returns the next i first.
  Values walk(mlir::Value begin, mlir::Value end, mlir::ValueRange start,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  /// `then` where the condition holds, `otherwise` elsewhere.
  Values whenElse(mlir::Value condition, llvm::function_ref<Values()> then, mlir::ValueRange otherwise);

private:
  mlir::LLVM::FastmathFlagsAttr flags(mlir::LLVM::FastmathFlags flags);
};

/// Bytes of an element type.
inline int64_t byteSize(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }
} // namespace hocket::cuda
