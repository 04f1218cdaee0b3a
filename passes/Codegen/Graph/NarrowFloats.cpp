// bf16 and f16 in memory, f32 in registers (Emit.h). The conversions are written out in integers, except for f16 where
// the CPU has f16c: its instructions give the same bits. That of bf16 (vcvtneps2bf16) does not, it takes subnormal
// numbers for zero; and LLVM would call a library for either where there is no instruction.
#include "passes/Codegen/Graph/Emit.h"
#include <bit>
using namespace mlir;

namespace hocket::codegen {
bool isNarrow(Type element) { return isa<BFloat16Type, Float16Type>(element); }

namespace {
Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}
} // namespace

Type Emit::storageType(Type element) {
  return isNarrow(element) && !arithmetic.nativeNarrow ? Type(getI16Type()) : element;
}

Value Emit::like(Value shape, Type element, uint32_t bits) {
  return number(static_cast<int32_t>(bits), withElement(shape.getType(), element));
}

Value Emit::fromStorage(Type element, Value stored) {
  if (!isNarrow(element))
    return stored;
  Type single = withElement(stored.getType(), getF32Type());
  if (arithmetic.nativeNarrow)
    return arith::ExtFOp::create(*this, single, stored);
  Type word = withElement(stored.getType(), getI32Type());
  if (element.isF16() && arithmetic.halfConversion) {
    Value half = arith::BitcastOp::create(*this, withElement(stored.getType(), element), stored);
    return arith::ExtFOp::create(*this, single, half);
  }
  Value wide = arith::ExtUIOp::create(*this, word, stored);
  if (element.isF16())
    return fromHalfBits(wide);
  return arith::BitcastOp::create(*this, single, arith::ShLIOp::create(*this, wide, like(wide, getI32Type(), 16)));
}

Value Emit::toStorage(Type element, Value value) {
  if (!isNarrow(element))
    return value;
  if (arithmetic.nativeNarrow)
    return arith::TruncFOp::create(*this, withElement(value.getType(), element), value);
  Type half = withElement(value.getType(), getI16Type()), word = withElement(value.getType(), getI32Type());
  if (element.isF16() && arithmetic.halfConversion) {
    Value nearest = arith::TruncFOp::create(*this, withElement(value.getType(), element), value);
    return arith::BitcastOp::create(*this, half, nearest);
  }
  if (element.isF16())
    return arith::TruncIOp::create(*this, half, toHalfBits(value));
  Value bits = arith::BitcastOp::create(*this, word, value);
  auto constant = [&](uint32_t number) { return like(bits, getI32Type(), number); };
  Value upper = arith::ShRUIOp::create(*this, bits, constant(16));
  // just below half of the last bit that stays, and that bit: so ties go to even
  Value carry = add(arith::AndIOp::create(*this, upper, constant(1)), constant(0x7fff));
  Value nearest = arith::ShRUIOp::create(*this, add(bits, carry), constant(16));
  Value nan = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, value, value);
  Value quiet = arith::OrIOp::create(*this, upper, constant(0x40));
  return arith::TruncIOp::create(*this, half, choose(nan, quiet, nearest));
}

Value Emit::rounded(Type element, Value value) { return fromStorage(element, toStorage(element, value)); }

/// Bits of an f16 in an i32, as f32. Subnormal numbers become normal by a subtraction of f32.
Value Emit::fromHalfBits(Value bits) {
  Type word = getI32Type(), single = withElement(bits.getType(), getF32Type());
  auto constant = [&](uint32_t number) { return like(bits, word, number); };
  auto shifted = [&](Value value, uint32_t by) -> Value { return arith::ShLIOp::create(*this, value, constant(by)); };
  auto equal = [&](Value a, Value b) { return compare(arith::CmpIPredicate::eq, a, b); };
  auto single32 = [&](Value value) -> Value { return arith::BitcastOp::create(*this, single, value); };
  Value magnitude = shifted(arith::AndIOp::create(*this, bits, constant(0x7fff)), 13);
  Value exponent = arith::AndIOp::create(*this, magnitude, constant(0x1f << 23));
  Value normal = add(magnitude, constant((127 - 15) << 23)); // the exponent's bias is 15 there and 127 here
  Value special = arith::OrIOp::create(*this, magnitude, constant(0xff << 23)); // infinity, NaN
  Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, constant(0x1f << 23));
  special = choose(isNan, arith::OrIOp::create(*this, special, constant(0x400000)), special);
  Value least = single32(constant(113 << 23)); // 2^-14
  Value small = sub(single32(add(magnitude, constant(113 << 23))), least);
  Value number = choose(equal(exponent, constant(0)), arith::BitcastOp::create(*this, bits.getType(), small), normal);
  number = choose(equal(exponent, constant(0x1f << 23)), special, number);
  Value sign = shifted(arith::AndIOp::create(*this, bits, constant(0x8000)), 16);
  return single32(arith::OrIOp::create(*this, number, sign));
}

/// The f16 nearest to an f32, its bits in an i32.
Value Emit::toHalfBits(Value value) {
  Type word = withElement(value.getType(), getI32Type());
  Value bits = arith::BitcastOp::create(*this, word, value);
  auto constant = [&](uint32_t number) { return like(bits, getI32Type(), number); };
  auto right = [&](Value number, uint32_t by) -> Value { return arith::ShRUIOp::create(*this, number, constant(by)); };
  auto below = [&](Value a, uint32_t limit) { return compare(arith::CmpIPredicate::ult, a, constant(limit)); };
  Value magnitude = arith::AndIOp::create(*this, bits, constant(0x7fffffff));
  Value odd = arith::AndIOp::create(*this, right(magnitude, 13), constant(1));
  Value normal = right(add(add(magnitude, odd), constant(0xfff - ((127 - 15) << 23))), 13);
  // adding 0.5 puts the last bit of a subnormal f16 in the last place of the sum, which is rounded to even
  Value half = arith::BitcastOp::create(*this, value.getType(), constant(0x3f000000));
  Value sum = add(arith::BitcastOp::create(*this, value.getType(), magnitude), half);
  Value subnormal = sub(arith::BitcastOp::create(*this, word, sum), constant(0x3f000000));
  Value nan = arith::OrIOp::create(*this, arith::AndIOp::create(*this, right(magnitude, 13), constant(0x3ff)),
                                   constant(0x7e00));
  Value number = choose(below(magnitude, 0x38800000), subnormal, normal);  // 2^-14, the least normal
  number = choose(below(magnitude, 0x477ff000), number, constant(0x7c00)); // 65520 and more round to infinity
  number = choose(below(magnitude, 0x7f800001), number, nan);
  Value sign = arith::AndIOp::create(*this, right(bits, 16), constant(0x8000));
  return arith::OrIOp::create(*this, number, sign);
}
} // namespace hocket::codegen
