// The gradient of an embedding: rows of dy that have one id are added in token order, then written to that id's row, or
// added to it where the kernel also adds to an accumulator. So rows that no token names cost nothing when the
// accumulator is updated in place, and a separate sum would give the same bits. Tiles are blocks of columns; each looks
// at all ids (quadratic in tokens, 32 compares at once; fine to 10^4).
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cpu {
namespace {
struct Scatter {
  Emit &e;
  Value ids, dy, out, accumulator, offset; ///< accumulator, offset: null where there is none
  Type idType, dyType, tableType, sumType; ///< sums are kept in sumType and rounded to the table's when complete
  int64_t tokens, width, rows;
  Value columnBegin, columnEnd, sum;

  /// Is there an i in [from, to) with ids[i] == id?
  Value isAmong(Value id, Value from, Value to) {
    SmallVector<Value> found =
        e.loop(from, to, lanes, e.number(0, e.vectorOf(e.getI32Type())), [&](Value i, ValueRange before) {
          return SmallVector<Value>{e.max(before.front(), matches(id, i, to))};
        });
    return positive(e.joinLanes(Reduction::Max, found.front()));
  }
  /// 1 in each lane whose id, of those from i on and before `to`, is `id`.
  Value matches(Value id, Value i, Value to) {
    Value mask = e.lanesBelow(e.minus(to, i));
    Value equal = e.compare(arith::CmpIPredicate::eq, e.loadVector(idType, ids, i, mask), id);
    return arith::ExtUIOp::create(e, e.vectorOf(e.getI32Type()), e.both(equal, mask));
  }
  Value positive(Value number) { return e.compare(arith::CmpIPredicate::sgt, number, e.number(0, number.getType())); }

  void overColumns(llvm::function_ref<void(Value column, Value mask)> body) {
    e.loop(columnBegin, columnEnd, lanes,
           [&](Value column) { body(column, width % lanes ? e.lanesBelow(e.minus(columnEnd, column)) : Value()); });
  }
  Value row(Value index, Value column) { return e.plus(e.times(index, width), column); }

  /// Zeros, or the accumulator, in this tile's columns.
  void start() {
    auto copy = [&] {
      e.loop(e.i64(0), e.i64(rows), 1, [&](Value r) {
        overColumns([&](Value column, Value mask) {
          Value value = accumulator ? e.loadVector(tableType, accumulator, row(r, column), mask)
                                    : e.number(0, e.vectorOf(sumType));
          e.storeVector(tableType, value, out, row(r, column), mask);
        });
      });
    };
    if (!accumulator)
      return copy();
    Value differ = LLVM::ICmpOp::create(e, LLVM::ICmpPredicate::ne, accumulator, out);
    e.when(differ, copy);
  }
  void token(Value i) {
    Value id = e.load(idType, ids, i);
    Value local = offset ? e.minus(e.widen(id), offset) : e.widen(id);
    Value inside = e.compare(arith::CmpIPredicate::ult, local, e.i64(rows));
    e.when(inside, [&] {
      Value first = e.createOrFold<arith::XOrIOp>(isAmong(id, e.i64(0), i), e.number(1, e.getI1Type()));
      e.when(first, [&] { addAll(i, id, local); });
    });
  }
  void addRow(Value j) {
    overColumns([&](Value column, Value mask) {
      Value at = e.minus(column, columnBegin);
      Value more = e.loadVector(dyType, dy, row(j, column), mask);
      e.storeVector(sumType, e.add(e.loadVector(sumType, sum, at, Value()), more), sum, at, Value());
    });
  }
  /// Token i is the first with its id: adds its row and those of the later ones, one after another.
  void addAll(Value i, Value id, Value local) {
    overColumns([&](Value column, Value mask) {
      e.storeVector(sumType, e.loadVector(dyType, dy, row(i, column), mask), sum, e.minus(column, columnBegin),
                    Value());
    });
    e.loop(e.plus(i, 1), e.i64(tokens), lanes, [&](Value from) {
      e.when(positive(e.joinLanes(Reduction::Max, matches(id, from, e.i64(tokens)))), [&] {
        e.loop(from, e.least(e.plus(from, lanes), e.i64(tokens)), 1, [&](Value j) {
          e.when(e.compare(arith::CmpIPredicate::eq, e.load(idType, ids, j), id), [&] { addRow(j); });
        });
      });
    });
    overColumns([&](Value column, Value mask) {
      Value value = e.loadVector(sumType, sum, e.minus(column, columnBegin), Value());
      if (accumulator)
        value = e.add(e.loadVector(tableType, out, row(local, column), mask), e.rounded(tableType, value));
      e.storeVector(tableType, value, out, row(local, column), mask);
    });
  }
};
} // namespace

int64_t emitEmbeddingGrad(Emit &e, const SpecialKernel &kernel, nn::EmbeddingGradOp op, Value begin, Value end) {
  RankedTensorType table = op.getDtable().getType(), ids = op.getIds().getType();
  Value accumulator, out = kernel.ofResult(op.getDtable());
  if (!out) {
    auto add = cast<nn::AddOp>(*op.getDtable().getUsers().begin());
    accumulator = kernel.of(add.getA() == op.getDtable() ? add.getB() : add.getA());
    out = kernel.ofResult(add.getY());
  }
  Scatter scatter{e,
                  kernel.of(op.getIds()),
                  kernel.of(op.getDy()),
                  out,
                  accumulator,
                  op.getOffset() ? kernel.of(op.getOffset()) : Value(),
                  ids.getElementType(),
                  op.getDy().getType().getElementType(),
                  table.getElementType(),
                  scalarType(table.getElementType()),
                  ids.getNumElements(),
                  table.getShape().back(),
                  table.getNumElements() / table.getShape().back(),
                  {},
                  {},
                  {}};
  int64_t block = std::min<int64_t>(llvm::alignTo(llvm::divideCeil(scatter.width, 8), lanes), 256);
  scatter.sum = e.stackArray(scatter.sumType, block);
  e.loop(begin, end, 1, [&](Value tile) {
    scatter.columnBegin = e.times(tile, block);
    scatter.columnEnd = e.least(e.plus(scatter.columnBegin, block), e.i64(scatter.width));
    scatter.start();
    e.loop(e.i64(0), e.i64(scatter.tokens), 1, [&](Value i) { scatter.token(i); });
  });
  return llvm::divideCeil(scatter.width, block);
}
} // namespace hocket::cpu
