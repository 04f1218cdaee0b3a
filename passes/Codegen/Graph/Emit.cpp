// See Emit.h.
#include "passes/Codegen/Graph/Emit.h"
#include <limits>
using namespace mlir;

namespace hocket::codegen {
namespace {
bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
unsigned alignmentOf(Type element) {
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8; // else a pointer
}
} // namespace

Emit::Emit(Location loc, Block *entry, Arithmetic arithmetic)
    : ImplicitLocOpBuilder(loc, loc.getContext()), entry(entry), arithmetic(arithmetic) {
  setInsertionPointToEnd(entry);
}

Type Emit::pointerType() { return LLVM::LLVMPointerType::get(getContext()); }

// ---- i64 ----
Value Emit::i64(int64_t value) { return arith::ConstantOp::create(*this, getI64IntegerAttr(value)); }
Value Emit::plus(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
Value Emit::minus(Value a, Value b) { return createOrFold<arith::SubIOp>(a, b); }
Value Emit::times(Value a, int64_t b) { return createOrFold<arith::MulIOp>(a, i64(b)); }
Value Emit::over(Value a, int64_t b) { return b == 1 ? a : createOrFold<arith::DivUIOp>(a, i64(b)); }
Value Emit::modulo(Value a, int64_t b) { return b == 1 ? i64(0) : createOrFold<arith::RemUIOp>(a, i64(b)); }
Value Emit::least(Value a, Value b) { return createOrFold<arith::MinSIOp>(a, b); }
Value Emit::greatest(Value a, Value b) { return createOrFold<arith::MaxSIOp>(a, b); }
Value Emit::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return arith::CmpIOp::create(*this, predicate, a, b);
}
Value Emit::widen(Value integer) {
  return integer.getType().isInteger(64) ? integer : arith::ExtSIOp::create(*this, getI64Type(), integer);
}

// ---- numbers ----
Value Emit::number(double value, Type like) {
  Type element = getElementTypeOrSelf(like);
  TypedAttr one = isa<FloatType>(element) ? TypedAttr(getFloatAttr(element, value))
                                          : TypedAttr(getIntegerAttr(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(like))
    return arith::ConstantOp::create(*this, DenseElementsAttr::get(vector, Attribute(one)));
  return arith::ConstantOp::create(*this, one);
}
std::pair<Value, Value> Emit::alike(Value a, Value b) {
  auto shapeA = dyn_cast<VectorType>(a.getType()), shapeB = dyn_cast<VectorType>(b.getType());
  if (shapeA && !shapeB)
    b = repeat(b, shapeA.getNumElements());
  if (shapeB && !shapeA)
    a = repeat(a, shapeB.getNumElements());
  return {a, b};
}
Value Emit::add(Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return isFloat(a) ? Value(arith::AddFOp::create(*this, a, b)) : arith::AddIOp::create(*this, a, b);
}
Value Emit::sub(Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return isFloat(a) ? Value(arith::SubFOp::create(*this, a, b)) : arith::SubIOp::create(*this, a, b);
}
Value Emit::mul(Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return isFloat(a) ? Value(arith::MulFOp::create(*this, a, b)) : arith::MulIOp::create(*this, a, b);
}
Value Emit::div(Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return arith::DivFOp::create(*this, a, b);
}
Value Emit::max(Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  return isFloat(a) ? Value(arith::MaxNumFOp::create(*this, a, b)) : arith::MaxSIOp::create(*this, a, b);
}
Value Emit::mulAdd(Value a, Value b, Value c) {
  if (!hasFma())
    return add(mul(a, b), c);
  std::tie(a, b) = alike(a, b);
  std::tie(a, c) = alike(a, c);
  std::tie(b, c) = alike(b, c);
  return math::FmaOp::create(*this, a, b, c);
}
Value Emit::choose(Value condition, Value a, Value b) {
  std::tie(a, b) = alike(a, b);
  if (isa<VectorType>(condition.getType()) && !isa<VectorType>(a.getType())) {
    int64_t count = cast<VectorType>(condition.getType()).getNumElements();
    a = repeat(a, count), b = repeat(b, count);
  }
  return arith::SelectOp::create(*this, condition, a, b);
}
Value Emit::exp(Value x) { return math::ExpOp::create(*this, x); }
Value Emit::repeat(Value scalar, int64_t count) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(*this, VectorType::get({count}, scalar.getType()), scalar);
}
Value Emit::combine(Reduction kind, Value a, Value b) { return kind == Reduction::Sum ? add(a, b) : max(a, b); }
Value Emit::neutral(Reduction kind, Type like) {
  if (kind == Reduction::Sum)
    return number(0, like);
  Type element = getElementTypeOrSelf(like);
  return isa<FloatType>(element) ? number(-std::numeric_limits<double>::infinity(), like)
                                 : number(std::numeric_limits<int32_t>::min(), like);
}
Value Emit::joinLanes(Reduction kind, Value vector) {
  for (int64_t count = cast<VectorType>(vector.getType()).getNumElements() / 2; count >= 1; count /= 2) {
    SmallVector<int32_t> low, high;
    for (int64_t i = 0; i < count; ++i)
      low.push_back(i), high.push_back(count + i);
    Value a = LLVM::ShuffleVectorOp::create(*this, vector, vector, low);
    Value b = LLVM::ShuffleVectorOp::create(*this, vector, vector, high);
    vector = combine(kind, a, b);
  }
  return LLVM::ExtractElementOp::create(*this, vector, i64(0));
}

// ---- memory ----
Value Emit::address(Type element, Value base, Value offset) {
  return LLVM::GEPOp::create(*this, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
}
Value Emit::load(Type element, Value base, Value offset) {
  Type stored = storageType(element);
  return fromStorage(
      element, LLVM::LoadOp::create(*this, stored, address(stored, base, offset), alignmentOf(stored)).getResult());
}
void Emit::store(Type element, Value value, Value base, Value offset) {
  Value stored = toStorage(element, value);
  LLVM::StoreOp::create(*this, stored, address(stored.getType(), base, offset), alignmentOf(stored.getType()));
}
Value Emit::loadVector(Type element, Value base, Value offset, Value mask) {
  Type stored = storageType(element);
  unsigned alignment = alignmentOf(stored);
  Value place = address(stored, base, offset);
  VectorType type = vectorOf(stored);
  if (!mask)
    return fromStorage(element, LLVM::LoadOp::create(*this, type, place, alignment).getResult());
  return fromStorage(element, LLVM::MaskedLoadOp::create(*this, type, place, mask, ValueRange{number(0, type)}.front(),
                                                         getI32IntegerAttr(alignment), UnitAttr())
                                  .getResult());
}
void Emit::storeVector(Type element, Value value, Value base, Value offset, Value mask) {
  Value stored = toStorage(element, value);
  Type type = getElementTypeOrSelf(stored.getType());
  unsigned alignment = alignmentOf(type);
  Value place = address(type, base, offset);
  if (mask)
    LLVM::MaskedStoreOp::create(*this, stored, place, mask, alignment);
  else
    LLVM::StoreOp::create(*this, stored, place, alignment);
}
Value Emit::addresses(Type element, Value base, Value offset, int64_t stride) {
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < lanes(); ++i)
    steps.push_back(i * stride);
  Value numbers = arith::ConstantOp::create(*this, DenseIntElementsAttr::get(vectorOf(getI64Type()), steps));
  return LLVM::GEPOp::create(*this, LLVM::getVectorType(pointerType(), lanes()), element,
                             address(element, base, offset), ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(numbers)});
}
Value Emit::gather(Type element, Value base, Value offset, int64_t stride, Value mask) {
  if (!mask)
    mask = number(1, vectorOf(getI1Type()));
  Type stored = storageType(element);
  return fromStorage(element, LLVM::masked_gather::create(
                                  *this, vectorOf(stored), addresses(stored, base, offset, stride), mask,
                                  ValueRange{number(0, vectorOf(stored))}, getI32IntegerAttr(alignmentOf(stored)))
                                  .getResult());
}
void Emit::scatter(Type element, Value value, Value base, Value offset, int64_t stride, Value mask) {
  if (!mask)
    mask = number(1, vectorOf(getI1Type()));
  Value stored = toStorage(element, value);
  Type type = getElementTypeOrSelf(stored.getType());
  LLVM::masked_scatter::create(*this, stored, addresses(type, base, offset, stride), mask,
                               getI32IntegerAttr(alignmentOf(type)));
}
Value Emit::stackArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(entry);
  return LLVM::AllocaOp::create(*this, pointerType(), element, i64(count), 64);
}
void Emit::zero(Type element, Value base, int64_t count) {
  Value zeros = number(0, vectorOf(element));
  loop(i64(0), i64(count), lanes(), [&](Value i) { storeVector(element, zeros, base, i, Value()); });
}

Value Emit::laneNumbers() {
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < lanes(); ++i)
    numbers.push_back(i);
  return arith::ConstantOp::create(*this, DenseIntElementsAttr::get(vectorOf(getI32Type()), numbers));
}
Value Emit::lanesBelow(Value count) {
  Value clamped = least(greatest(count, i64(0)), i64(lanes()));
  Value narrow = createOrFold<arith::TruncIOp>(getI32Type(), clamped);
  return compare(arith::CmpIPredicate::slt, laneNumbers(), narrow);
}
Value Emit::both(Value maskA, Value maskB) {
  if (!maskA || !maskB)
    return maskA ? maskA : maskB;
  return arith::AndIOp::create(*this, maskA, maskB);
}

// ---- control ----
void Emit::loop(Value begin, Value end, int64_t step, function_ref<void(Value)> body) {
  loop(begin, end, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}
SmallVector<Value> Emit::loop(Value begin, Value end, int64_t step, ValueRange start,
                              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(*this, begin, end, i64(step), start, [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(*this);
  if (!made.getBody()->empty())
    made.getBody()->back().erase();
  setInsertionPointToEnd(made.getBody());
  SmallVector<Value> next = body(made.getInductionVar(), made.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return SmallVector<Value>(made.getResults());
}
void Emit::when(Value condition, function_ref<void()> then) {
  auto made = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(made.thenBlock());
  then();
}
} // namespace hocket::codegen
