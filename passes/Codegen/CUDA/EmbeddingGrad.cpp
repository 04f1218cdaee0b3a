// The gradient of an embedding: a first kernel fills the table (zeros, or the accumulator that the kernel also adds
// to); in the second a block has one token and a piece of the columns, and works if the token is the first with its id:
// it adds the rows of the others in token order. No two blocks write one row, so nothing depends on their order. Each
// block looks at all ids (quadratic in tokens; fine to 10^4).
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Codegen/CUDA/SpecialEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
struct Table {
  Value ids, dy, out, accumulator, offset; ///< accumulator, offset: null where there is none
  Type idType, dyType, tableType;
  int64_t tokens, width, rows;

  Table(GpuFrame &frame, nn::EmbeddingGradOp op) {
    RankedTensorType table = op.getDtable().getType();
    ids = frame.buffer(op.getIds()), dy = frame.buffer(op.getDy()), out = frame.result(op.getDtable());
    if (!out) {
      auto add = cast<nn::AddOp>(*op.getDtable().getUsers().begin());
      accumulator = frame.buffer(add.getA() == op.getDtable() ? add.getB() : add.getA());
      out = frame.result(add.getY());
    }
    if (op.getOffset())
      offset = frame.number(op.getOffset());
    idType = elementOf(op.getIds()), dyType = elementOf(op.getDy()), tableType = table.getElementType();
    tokens = op.getIds().getType().getNumElements(), width = table.getShape().back();
    rows = table.getNumElements() / width;
  }
};

/// A block of `threads` threads that adds the rows of one id.
class RowAdder {
public:
  RowAdder(GpuEmit &e, GpuFrame &frame, nn::EmbeddingGradOp op, int64_t threads)
      : e(e), frame(frame), table(frame, op), threads(threads), pieces(table.width / e.lanes()) {}

  Launch run() {
    Launch launch;
    launch.block[0] = threads;
    launch.grid = {table.tokens, static_cast<int64_t>(llvm::divideCeil(pieces, threads)), 1};
    thread = e.thread(threads);
    Value token = e.block(launch.grid[0]), piece = e.plus(e.times(e.blockY(launch.grid[1]), threads), thread);
    there = e.compare(arith::CmpIPredicate::slt, piece, e.i64(pieces));
    column = e.times(e.choose(there, piece, e.i64(0)), e.lanes());
    list = frame.staticShared(e, e.getI32Type(), threads);
    counts = frame.staticShared(e, e.getI32Type(), threads / 32);
    id = e.load(table.idType, table.ids, token);
    Value local = table.offset ? e.minus(e.widen(id), table.offset) : e.widen(id);
    Value inside = e.compare(arith::CmpIPredicate::ult, local, e.i64(table.rows));
    e.when(inside, [&] { e.when(isFirst(token), [&] { addAll(token, local); }); });
    return launch;
  }

private:
  Value same(Value index) { return e.compare(arith::CmpIPredicate::eq, e.load(table.idType, table.ids, index), id); }
  Value row(Value index) { return e.plus(e.times(index, table.width), column); }

  Value isFirst(Value token) {
    Value none = e.number(0, e.getI32Type());
    Value found = e.loop(thread, token, threads, none, [&](Value i, ValueRange so) {
                     return SmallVector<Value>{e.choose(same(i), e.number(1, e.getI32Type()), so.front())};
                   }).front();
    return e.compare(arith::CmpIPredicate::eq, e.joinThreads({Reduction::Max}, found, threads, thread).front(), none);
  }
  void addAll(Value token, Value local) {
    Value start = e.number(0, e.vectorOf(codegen::scalarType(table.tableType)));
    Value sum =
        e.loop(token, e.i64(table.tokens), threads, start, [&](Value from, ValueRange so) {
           Value count = listMatches(from);
           return e.loop(e.i64(0), count, 1, so, [&](Value i, ValueRange sum) {
             Value at = e.widen(e.load(e.getI32Type(), list, i));
             return SmallVector<Value>{e.add(sum.front(), e.loadVector(table.dyType, table.dy, row(at), Value()))};
           });
         }).front();
    e.when(there, [&] {
      if (table.accumulator)
        sum = e.add(e.loadVector(table.tableType, table.out, row(local), Value()), e.rounded(table.tableType, sum));
      e.storeVector(table.tableType, sum, table.out, row(local), Value());
    });
  }
  /// Puts the tokens of [from, from + threads) that have the id into `list`, in order; returns how many (i64). Its
  /// first barrier is reached once all have read the list of before.
  Value listMatches(Value from) {
    Type i32 = e.getI32Type();
    Value index = e.plus(from, thread), exists = e.compare(arith::CmpIPredicate::slt, index, e.i64(table.tokens));
    Value match = e.both(exists, same(e.choose(exists, index, e.i64(0))));
    Value all = NVVM::VoteSyncOp::create(e, i32, e.number(-1, i32), match, NVVM::VoteSyncKind::ballot);
    Value inWarp = arith::TruncIOp::create(e, i32, e.modulo(thread, 32));
    Value below = e.sub(arith::ShLIOp::create(e, e.number(1, i32), inWarp), e.number(1, i32));
    auto ones = [&](Value bits) -> Value { return LLVM::CtPopOp::create(e, i32, bits); };
    Value before = ones(arith::AndIOp::create(e, all, below)), warp = e.over(thread, 32);
    e.when(e.compare(arith::CmpIPredicate::eq, inWarp, e.number(0, i32)),
           [&] { e.store(i32, ones(all), counts, warp); });
    e.barrier();
    Value total = e.number(0, i32), place = before;
    for (int64_t w = 0; w < threads / 32; ++w) {
      Value count = e.load(i32, counts, e.i64(w));
      Value earlier = e.compare(arith::CmpIPredicate::slt, e.i64(w), warp);
      place = e.add(place, e.choose(earlier, count, e.number(0, i32)));
      total = e.add(total, count);
    }
    e.when(match, [&] { e.store(i32, arith::TruncIOp::create(e, i32, index), list, e.widen(place)); });
    e.barrier();
    return e.widen(total);
  }

  GpuEmit &e;
  GpuFrame &frame;
  Table table;
  int64_t threads, pieces;
  Value thread, there, column, id, list, counts;
};

Launch fillTable(GpuEmit &e, GpuFrame &frame, nn::EmbeddingGradOp op) {
  Table table(frame, op);
  int64_t elements = table.rows * table.width, pieces = elements / e.lanes();
  return overThreads(e, pieces, [&](Value index) {
    Value at = e.times(index, e.lanes());
    if (!table.accumulator) {
      Value zero = e.number(0, e.vectorOf(codegen::scalarType(table.tableType)));
      return e.storeVector(table.tableType, zero, table.out, at, Value());
    }
    e.when(LLVM::ICmpOp::create(e, LLVM::ICmpPredicate::ne, table.accumulator, table.out), [&] {
      Value value = e.loadVector(table.tableType, table.accumulator, at, Value());
      e.storeVector(table.tableType, value, table.out, at, Value());
    });
  });
}
} // namespace

LogicalResult emitEmbeddingGrad(func::FuncOp kernel, nn::EmbeddingGradOp op, ModuleOp into) {
  RankedTensorType table = op.getDtable().getType();
  int64_t width = table.getShape().back(), lanes = lanesOf({width});
  int64_t threads = std::clamp<int64_t>(llvm::alignTo(width / lanes, 32), 64, 256);
  StepKernel step(kernel, into, 0);
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, lanesOf({table.getNumElements()}));
    return fillTable(e, frame, op);
  });
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, lanes);
    return RowAdder(e, frame, op, threads).run();
  });
  step.finish();
  return success();
}
} // namespace hocket::cuda
