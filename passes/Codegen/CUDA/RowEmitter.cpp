// See GraphEmitters.h: kernels with reductions along rows. As on the CPU a row is gone through once a stage. A row that
// fits in the registers of its threads is loaded once; a longer one is read and computed again in each stage, and
// stored in the last, so that results may lie on operands.
#include "passes/Codegen/CUDA/GraphEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t warp = 32, smallBlock = 128, longRowThreads = 512;
/// Registers of a thread that may hold what one loop keeps for the next, and with what is loaded at once before.
constexpr int64_t keptBudget = 64, loadedBudget = 128;

/// Numbers an element that are loaded.
int64_t loadedNumbers(const NeededSteps &needed) {
  return llvm::count_if(needed.all, [](Step *step) { return step->kind == Step::Load && step->space == Space::Full; });
}

/// Threads of a row, rows of a block, and pieces (of `lanes` elements) that a thread keeps of a row; 0: none, the row
/// is read again.
struct RowPlan {
  int64_t threads = 1, rows = 1, pieces = 0;
  RowPlan(int64_t columns, int64_t lanes, int64_t kept, int64_t loaded) {
    int64_t all = llvm::divideCeil(columns, lanes), most = keptBudget / (kept * lanes);
    most = std::max<int64_t>(1, std::min(most, loadedBudget / ((kept + loaded) * lanes)));
    if (all <= warp * std::min<int64_t>(most, 4)) {
      threads = std::min<int64_t>(warp, llvm::PowerOf2Ceil(uint64_t(all)));
      rows = smallBlock / threads;
      pieces = llvm::divideCeil(all, threads);
      return;
    }
    for (int64_t most256 : {256, 512})
      for (int64_t k = 1; k <= std::min<int64_t>(most, 8); ++k)
        if (int64_t t = llvm::alignTo(llvm::divideCeil(all, k), warp); t <= most256) {
          threads = t, pieces = k;
          return;
        }
    threads = longRowThreads;
  }
};

class RowEmitter {
public:
  RowEmitter(GpuEmit &e, const Graph &graph, const NeededSteps &needed, const RowOutputs &outputs, bool inPlace)
      : e(e), needed(needed), outputs(outputs), shape(graph.getShape()), inPlace(inPlace),
        plan(shape.columns, e.lanes(), needed.keptNumbers(), loadedNumbers(needed)), values(e) {}

  Launch run() {
    Launch launch;
    launch.block[0] = plan.threads * plan.rows;
    launch.grid[0] = llvm::divideCeil(shape.rows, plan.rows);
    Value thread = e.thread(launch.block[0]), row = e.block(launch.grid[0]);
    inRow = e.modulo(thread, plan.threads);
    if (plan.rows > 1) {
      row = e.plus(e.times(row, plan.rows), e.over(thread, plan.threads));
      if (shape.rows % plan.rows) // threads beyond the rows do as the last does, and store nothing
        rowThere = e.compare(arith::CmpIPredicate::slt, row, e.i64(shape.rows));
      row = e.least(row, e.i64(shape.rows - 1));
    }
    values.beginRow(row);
    chunks.resize(plan.pieces);
    rowSteps(0);
    for (auto &[stage, steps] : needed.reductions) {
      reduce(steps);
      rowSteps(stage + 1);
    }
    storeOutputs(row);
    return launch;
  }

private:
  void rowSteps(int stage) {
    for (Step *step : needed.all)
      if (step->space == Space::Row && step->stage <= stage && step->kind != Step::Reduce)
        values.ofRow({step, 0});
  }

  using PieceBody = llvm::function_ref<SmallVector<Value>(Value there, ValueRange carried)>;
  /// Runs `body` for each piece of the row that this thread has. `there`: null where it surely is; a piece that is not
  /// there reads that at column 0.
  SmallVector<Value> overPieces(ValueRange start, PieceBody body) {
    int64_t lanes = e.lanes(), stride = plan.threads * lanes;
    Value mine = e.times(inRow, lanes);
    if (plan.pieces == 0)
      return e.loop(mine, e.i64(shape.columns), stride, start, [&](Value column, ValueRange carried) {
        values.beginColumns(column);
        return body(Value(), carried);
      });
    SmallVector<Value> carried(start);
    for (int64_t k = 0; k < plan.pieces; ++k) {
      Piece &piece = chunks[k];
      if (!piece.column) {
        piece.column = e.plus(mine, k * stride);
        if ((k + 1) * stride > shape.columns) {
          piece.there = e.compare(arith::CmpIPredicate::slt, piece.column, e.i64(shape.columns));
          piece.column = e.choose(piece.there, piece.column, e.i64(0));
        }
      }
      values.resumeChunk(piece.column, std::move(piece.values));
      carried = body(piece.there, carried);
      piece.values = values.takeChunk();
    }
    return carried;
  }

  void reduce(ArrayRef<Step *> steps) {
    SmallVector<Value> start, lanes;
    SmallVector<Reduction> kinds;
    for (Step *step : steps) {
      start.push_back(e.neutral(step->reduction, e.vectorOf(step->element)));
      kinds.push_back(step->reduction);
      values.prepare(step->operands[0]);
    }
    SmallVector<Value> vectors = overPieces(start, [&](Value there, ValueRange carried) {
      SmallVector<Value> next;
      for (auto [step, so] : llvm::zip(steps, carried)) {
        Value value = e.repeat(values.full(step->operands[0]));
        if (there)
          value = arith::SelectOp::create(e, there, value, e.neutral(step->reduction, value.getType()));
        next.push_back(e.combine(step->reduction, so, value));
      }
      return next;
    });
    for (auto [step, vector] : llvm::zip(steps, vectors))
      lanes.push_back(e.joinLanes(step->reduction, vector));
    SmallVector<Value> joined = e.joinThreads(kinds, lanes, plan.threads, inRow);
    for (auto [step, value] : llvm::zip(steps, joined))
      values.setRow({step, 0}, value);
  }

  void storeOutputs(Value row) {
    SmallVector<const Output *> full, ofRow;
    for (const Output *output : outputs.outputs)
      (output->space == Space::Full ? full : ofRow).push_back(output);
    SmallVector<Value> rowNumbers;
    for (const Output *output : ofRow)
      rowNumbers.push_back(values.ofRow(output->value));
    for (const Output *output : full)
      values.prepare(output->value);
    // what one thread overwrites another may not have read yet: numbers of the row, elements read by address, and the
    // elements that threads read for pieces that are not there
    if (inPlace) {
      if (plan.pieces)
        overPieces({}, [&](Value, ValueRange) {
          for (const Output *output : full)
            values.full(output->value);
          return SmallVector<Value>();
        });
      e.barrier();
    }
    if (!full.empty())
      storeFull(full);
    if (ofRow.empty() && outputs.scratch.empty())
      return;
    Value firstThread = e.compare(arith::CmpIPredicate::eq, inRow, e.i64(0));
    e.when(e.both(firstThread, rowThere), [&] {
      for (auto [output, number] : llvm::zip(ofRow, rowNumbers))
        e.store(output->element, number, output->base, row);
      for (auto [ref, base] : outputs.scratch)
        e.store(values.ofRow(ref).getType(), values.ofRow(ref), base, row);
    });
  }
  void storeFull(ArrayRef<const Output *> full) {
    overPieces({}, [&](Value there, ValueRange) {
      SmallVector<Value> made;
      for (const Output *output : full)
        made.push_back(e.repeat(values.full(output->value)));
      Value stored = e.both(there, rowThere);
      auto all = [&] {
        for (auto [output, value] : llvm::zip(full, made))
          values.store(*output, value);
      };
      if (stored)
        e.when(stored, all);
      else
        all();
      return SmallVector<Value>();
    });
  }

  struct Piece {
    Value column, there;
    GraphValues::Chunk values;
  };
  GpuEmit &e;
  const NeededSteps &needed;
  const RowOutputs &outputs;
  const KernelShape &shape;
  bool inPlace;
  RowPlan plan;
  GraphValues values;
  Value inRow, rowThere;
  std::vector<Piece> chunks;
};
} // namespace

Launch emitRows(GpuEmit &e, const Graph &graph, const NeededSteps &needed, const RowOutputs &outputs, bool inPlace) {
  return RowEmitter(e, graph, needed, outputs, inPlace).run();
}
} // namespace hocket::cuda
