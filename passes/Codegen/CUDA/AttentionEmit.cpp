// See AttentionEmit.h.
#include "passes/Codegen/CUDA/AttentionEmit.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
/// Both as i64 if one is.
std::pair<Value, Value> alike(AttentionEmit &e, Value a, Value b) {
  if (a.getType() == b.getType())
    return {a, b};
  return {e.wide(a), e.wide(b)};
}
Value like(AttentionEmit &e, Value a, int64_t b) { return a.getType().isInteger(64) ? e.i64(b) : e.i32(b); }
} // namespace

// ---- indices --------------------------------------------------------------------------------------------------------
Value AttentionEmit::wide(Value index) {
  return index.getType().isInteger(64) ? index : createOrFold<arith::ExtSIOp>(getI64Type(), index);
}
Value AttentionEmit::plus(Value a, Value b) {
  auto [x, y] = alike(*this, a, b);
  return createOrFold<arith::AddIOp>(x, y);
}
Value AttentionEmit::plus(Value a, int64_t b) { return b == 0 ? a : plus(a, like(*this, a, b)); }
Value AttentionEmit::minus(Value a, Value b) {
  auto [x, y] = alike(*this, a, b);
  return createOrFold<arith::SubIOp>(x, y);
}
Value AttentionEmit::times(Value a, int64_t b) {
  return b == 1 ? a : createOrFold<arith::MulIOp>(a, like(*this, a, b));
}
Value AttentionEmit::over(Value a, int64_t b) {
  return b == 1 ? a : createOrFold<arith::DivUIOp>(a, like(*this, a, b));
}
Value AttentionEmit::modulo(Value a, int64_t b) { return createOrFold<arith::RemUIOp>(a, like(*this, a, b)); }
Value AttentionEmit::least(Value a, int64_t b) { return createOrFold<arith::MinUIOp>(a, like(*this, a, b)); }
Value AttentionEmit::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}
Value AttentionEmit::below(Value a, int64_t b) { return compare(arith::CmpIPredicate::ult, a, like(*this, a, b)); }
Value AttentionEmit::both(Value a, Value b) { return !a ? b : !b ? a : createOrFold<arith::AndIOp>(a, b); }
Value AttentionEmit::choose(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

// ---- numbers --------------------------------------------------------------------------------------------------------
LLVM::FastmathFlagsAttr AttentionEmit::flags(LLVM::FastmathFlags flags) {
  return LLVM::FastmathFlagsAttr::get(getContext(), flags);
}
Value AttentionEmit::number(double value) {
  return arith::ConstantOp::create(*this, getF32Type(), getF32FloatAttr(static_cast<float>(value)));
}
Value AttentionEmit::add(Value a, Value b) {
  return LLVM::FAddOp::create(*this, getF32Type(), a, b, LLVM::FastmathFlags::contract);
}
Value AttentionEmit::sub(Value a, Value b) {
  return LLVM::FSubOp::create(*this, getF32Type(), a, b, LLVM::FastmathFlags::contract);
}
Value AttentionEmit::mul(Value a, Value b) {
  return LLVM::FMulOp::create(*this, getF32Type(), a, b, LLVM::FastmathFlags::contract);
}
Value AttentionEmit::mulAdd(Value a, Value b, Value c) { return LLVM::FMAOp::create(*this, getF32Type(), a, b, c); }
Value AttentionEmit::exp2(Value x) { return math::Exp2Op::create(*this, x, arith::FastMathFlags::afn); }
Value AttentionEmit::join(Join kind, Value a, Value b) {
  switch (kind) {
  case Join::Sum:
    return add(a, b);
  case Join::Max:
    return LLVM::MaxNumOp::create(*this, a.getType(), a, b);
  case Join::Least:
    return arith::MinSIOp::create(*this, a, b);
  case Join::Greatest:
    return arith::MaxSIOp::create(*this, a, b);
  }
  llvm_unreachable("all kinds are listed");
}

// ---- memory ---------------------------------------------------------------------------------------------------------
Value AttentionEmit::address(Type element, Value base, Value offset) {
  return LLVM::GEPOp::create(*this, base.getType(), element, base, ValueRange{offset}, LLVM::GEPNoWrapFlags::inbounds);
}
Value AttentionEmit::load(Type type, Value address, int64_t alignment) {
  return LLVM::LoadOp::create(*this, type, address, static_cast<unsigned>(alignment));
}
void AttentionEmit::store(Value value, Value address, int64_t alignment) {
  LLVM::StoreOp::create(*this, value, address, static_cast<unsigned>(alignment));
}
Value AttentionEmit::widened(Value value) {
  return value.getType().isF32() ? value : LLVM::FPExtOp::create(*this, getF32Type(), value).getResult();
}
Value AttentionEmit::narrowed(Value f32, Type element) {
  return element.isF32() ? f32 : LLVM::FPTruncOp::create(*this, element, f32).getResult();
}
Value AttentionEmit::pair(Value a, Value b) {
  Value empty = LLVM::PoisonOp::create(*this, VectorType::get({2}, a.getType()));
  Value first = LLVM::InsertElementOp::create(*this, empty, a, i32(0));
  return LLVM::InsertElementOp::create(*this, first, b, i32(1));
}
Value AttentionEmit::elementOf(Value vector, int64_t index) {
  return LLVM::ExtractElementOp::create(*this, vector, i32(index));
}

// ---- threads --------------------------------------------------------------------------------------------------------
Value AttentionEmit::block(int dimension) {
  Type type = getI32Type();
  if (dimension == 0)
    return NVVM::BlockIdXOp::create(*this, type);
  if (dimension == 1)
    return NVVM::BlockIdYOp::create(*this, type);
  return NVVM::BlockIdZOp::create(*this, type);
}
Value AttentionEmit::butterfly(Join kind, Value value, int64_t begin, int64_t end) {
  for (int64_t distance = begin; distance < end; distance *= 2) {
    Value other = NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, i32(distance), i32(31),
                                       NVVM::ShflKind::bfly, UnitAttr());
    value = join(kind, value, other);
  }
  return value;
}

// ---- control --------------------------------------------------------------------------------------------------------
void AttentionEmit::loop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(begin, end, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}
AttentionEmit::Values AttentionEmit::loop(Value begin, Value end, int64_t step, ValueRange start,
                                          llvm::function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(*this, begin, end, i32(step), start);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!start.empty())
    scf::YieldOp::create(*this, results);
  return Values(loop.getResults());
}
AttentionEmit::Values AttentionEmit::walk(Value begin, Value end, ValueRange start,
                                          llvm::function_ref<Values(Value, ValueRange)> body) {
  Values carried{begin};
  llvm::append_range(carried, start);
  SmallVector<Type> types(ValueRange(carried).getTypes());
  SmallVector<Location> locations(types.size(), getLoc());
  auto loop = scf::WhileOp::create(*this, types, carried);
  OpBuilder::InsertionGuard guard(*this);
  Block *before = createBlock(&loop.getBefore(), {}, types, locations);
  Value more = compare(arith::CmpIPredicate::ult, before->getArgument(0), end);
  scf::ConditionOp::create(*this, more, before->getArguments());
  Block *after = createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(*this, body(after->getArgument(0), after->getArguments().drop_front()));
  return Values(loop.getResults());
}
void AttentionEmit::when(Value condition, llvm::function_ref<void()> then) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
}
AttentionEmit::Values AttentionEmit::whenElse(Value condition, llvm::function_ref<Values()> then,
                                              ValueRange otherwise) {
  auto branch = scf::IfOp::create(*this, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, then());
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, otherwise);
  return Values(branch.getResults());
}
} // namespace hocket::cuda
