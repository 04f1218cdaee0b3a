// See GpuEmit.h.
#include "passes/Codegen/CUDA/GpuEmit.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t most = 16;

int64_t divisorOf(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 24)
    return 1;
  auto of = [&](unsigned i) { return divisorOf(op->getOperand(i), depth + 1); };
  return TypeSwitch<Operation *, int64_t>(op)
      .Case([](arith::ConstantOp constant) -> int64_t {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        int64_t n = number ? number.getInt() : 1;
        return n == 0 ? most : n & -n;
      })
      .Case([&](arith::MulIOp) { return of(0) * of(1); })
      .Case<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp>(
          [&](auto) { return std::min(of(0), of(1)); })
      .Case([&](arith::SelectOp) { return std::min(of(1), of(2)); })
      .Case<arith::ExtUIOp, arith::ExtSIOp>([&](auto) { return of(0); })
      .Default([](Operation *) { return int64_t(1); });
}
} // namespace

int64_t knownDivisor(Value integer) { return std::min(most, divisorOf(integer, 0)); }

GpuEmit::GpuEmit(const GpuFrame &frame, int64_t lanes)
    : Emit(frame.loc(), frame.entry(), {lanes, /*fma=*/true, /*halfConversion=*/true, /*nativeNarrow=*/true}),
      frame(frame) {
  if (auto begin = frame.begin())
    restoreInsertionPoint(*begin);
}

// ---- threads ----
Value GpuEmit::index(Value register32) { return arith::ExtUIOp::create(*this, getI64Type(), register32); }
static LLVM::ConstantRangeAttr below(OpBuilder &builder, int64_t count) {
  return LLVM::ConstantRangeAttr::get(builder.getContext(), 32, 0, count);
}
Value GpuEmit::thread(int64_t count) {
  return index(NVVM::ThreadIdXOp::create(*this, getI32Type(), below(*this, count)));
}
Value GpuEmit::threadY(int64_t count) {
  return index(NVVM::ThreadIdYOp::create(*this, getI32Type(), below(*this, count)));
}
Value GpuEmit::block(int64_t count) {
  if (Value ofPart = frame.blockX())
    return ofPart;
  return index(NVVM::BlockIdXOp::create(*this, getI32Type(), below(*this, count)));
}
Value GpuEmit::blockY(int64_t count) {
  if (Value ofPart = frame.blockY())
    return ofPart;
  return index(NVVM::BlockIdYOp::create(*this, getI32Type(), below(*this, count)));
}
void GpuEmit::barrier() { NVVM::Barrier0Op::create(*this); }

Value GpuEmit::shuffleXor(Value number, int64_t distance) {
  Type type = number.getType(), word = getI32Type();
  if (type.getIntOrFloatBitWidth() == 64) {
    auto pair = VectorType::get({2}, word);
    Value words = LLVM::BitcastOp::create(*this, pair, number), made = words;
    for (int64_t i = 0; i < 2; ++i) {
      Value at = i64(i), one = shuffleXor(LLVM::ExtractElementOp::create(*this, words, at), distance);
      made = LLVM::InsertElementOp::create(*this, made, one, at);
    }
    return LLVM::BitcastOp::create(*this, type, made);
  }
  auto constant = [&](int32_t n) -> Value { return arith::ConstantOp::create(*this, getI32IntegerAttr(n)); };
  return NVVM::ShflOp::create(*this, type, constant(-1), number, constant(static_cast<int32_t>(distance)), constant(31),
                              NVVM::ShflKind::bfly, UnitAttr());
}

// ---- memory ----
unsigned GpuEmit::alignment(Type stored, Value base, Value offset, int64_t elements) {
  int64_t bytes = std::max<int64_t>(1, stored.getIntOrFloatBitWidth() / 8);
  return static_cast<unsigned>(std::min<int64_t>({frame.alignmentOf(base, stored),
                                                  bytes * static_cast<int64_t>(llvm::bit_floor(uint64_t(elements))),
                                                  bytes * knownDivisor(offset)}));
}
Value GpuEmit::load(Type element, Value base, Value offset) {
  Type stored = storageType(element);
  return fromStorage(
      element, LLVM::LoadOp::create(*this, stored, address(stored, base, offset), alignment(stored, base, offset, 1))
                   .getResult());
}
void GpuEmit::store(Type element, Value value, Value base, Value offset) {
  Value stored = toStorage(element, value);
  LLVM::StoreOp::create(*this, stored, address(stored.getType(), base, offset),
                        alignment(stored.getType(), base, offset, 1));
}
Value GpuEmit::lane(Value vector, int64_t index) { return LLVM::ExtractElementOp::create(*this, vector, i64(index)); }

Value GpuEmit::loadVector(Type element, Value base, Value offset, Value mask) {
  Type stored = storageType(element);
  VectorType type = vectorOf(stored);
  if (!mask)
    return fromStorage(element, LLVM::LoadOp::create(*this, type, address(stored, base, offset),
                                                     alignment(stored, base, offset, lanes()))
                                    .getResult());
  // lanes that are not there read the first element, which always is
  Value made = number(0, type);
  for (int64_t i = 0; i < lanes(); ++i) {
    Value there = lane(mask, i), at = choose(there, plus(offset, i), i64(0));
    Value one = LLVM::LoadOp::create(*this, stored, address(stored, base, at), alignment(stored, base, at, 1));
    made = LLVM::InsertElementOp::create(*this, made, choose(there, one, number(0, stored)), i64(i));
  }
  return fromStorage(element, made);
}
Value GpuEmit::loadWhole(Type element, Value base, Value offset, Value there) {
  Value read = loadVector(element, base, choose(there, offset, i64(0)), Value());
  return arith::SelectOp::create(*this, there, read, number(0, read.getType()));
}
void GpuEmit::storeVector(Type element, Value value, Value base, Value offset, Value mask) {
  Value stored = toStorage(element, value);
  Type type = getElementTypeOrSelf(stored.getType());
  if (!mask) {
    LLVM::StoreOp::create(*this, stored, address(type, base, offset), alignment(type, base, offset, lanes()));
    return;
  }
  for (int64_t i = 0; i < lanes(); ++i)
    when(lane(mask, i), [&] {
      Value at = plus(offset, i);
      LLVM::StoreOp::create(*this, lane(stored, i), address(type, base, at), alignment(type, base, at, 1));
    });
}

// ---- what threads do together ----
SmallVector<Value> GpuEmit::joinThreads(ArrayRef<Reduction> kinds, ValueRange numbers, int64_t width, Value thread) {
  auto joinWarp = [&](Reduction kind, Value number, int64_t among) {
    for (int64_t distance = among / 2; distance >= 1; distance /= 2)
      number = combine(kind, number, shuffleXor(number, distance));
    return number;
  };
  SmallVector<Value> joined;
  for (auto [kind, number] : llvm::zip(kinds, numbers))
    joined.push_back(joinWarp(kind, number, std::min<int64_t>(width, 32)));
  if (width <= 32)
    return joined;
  int64_t warps = width / 32, among = static_cast<int64_t>(llvm::PowerOf2Ceil(uint64_t(warps)));
  Value inWarp = modulo(thread, 32), warp = over(thread, 32);
  SmallVector<Value> slots;
  for (Value number : joined)
    slots.push_back(frame.staticShared(*this, number.getType(), warps));
  when(compare(arith::CmpIPredicate::eq, inWarp, i64(0)), [&] {
    for (auto [number, slot] : llvm::zip(joined, slots))
      store(number.getType(), number, slot, warp);
  });
  barrier();
  Value mine = modulo(inWarp, among), there = compare(arith::CmpIPredicate::ult, mine, i64(warps));
  for (auto [kind, number, slot] : llvm::zip(kinds, joined, slots)) {
    Value other = load(number.getType(), slot, among == warps ? mine : choose(there, mine, i64(0)));
    if (among != warps)
      other = choose(there, other, neutral(kind, other.getType()));
    number = joinWarp(kind, other, among);
  }
  return joined;
}
} // namespace hocket::cuda
