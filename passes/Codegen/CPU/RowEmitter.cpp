// See RowEmitter.h. One row runs through the loops of its stages (each over the columns, 32 at a time, the rest
// masked), then the row's own numbers are stored. Sums over rows gather in arrays on the stack, in blocks of rows.
#include "passes/Codegen/CPU/RowEmitter.h"
#include "passes/Codegen/Graph/NeededSteps.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cpu {
using codegen::NeededSteps;

namespace {
/// Sums down a column add this many rows, and then the blocks, so that long sums stay accurate.
constexpr int64_t rowSumBlock = 256;

class RowEmitter {
public:
  RowEmitter(Emit &e, Graph &graph, const Tiling &tiling)
      : e(e), graph(graph), shape(graph.getShape()), tiling(tiling), needed(graph) {
    for (Step *sum : needed.sums)
      totals[sum] = {e.stackArray(sum->element, paddedColumns()), e.stackArray(sum->element, paddedColumns())};
    findSaves();
  }

  void run(Value begin, Value end) {
    e.loop(begin, end, 1, [&](Value tile) {
      Value rowBegin = e.times(e.over(tile, tiling.columnBlocks), tiling.rowBlock);
      Value rowEnd = e.least(e.plus(rowBegin, tiling.rowBlock), e.i64(shape.rows));
      columnBegin = e.times(e.modulo(tile, tiling.columnBlocks), tiling.columnBlock);
      columnEnd = e.least(e.plus(columnBegin, tiling.columnBlock), e.i64(shape.columns));
      if (needed.sums.empty())
        e.loop(rowBegin, rowEnd, 1, [&](Value newRow) { emitRow(newRow); });
      else
        emitSums();
    });
  }

private:
  /// A row on the stack, from one loop to a later one.
  struct Save {
    Value base;
    Type element;
  };

  // ---- what is computed in which loop -------------------------------------------------------------------------------
  /// Kernels that add over rows read whole rows first and then only their own columns.
  int outputStage(const Output &output) const {
    return needed.sums.empty() ? output.value.step->stage : needed.lastStage;
  }

  void findSaves() {
    for (auto &[stage, steps] : needed.reductions)
      for (Step *step : steps)
        demand(step->operands[0], stage);
    for (Step *sum : needed.sums)
      demand(sum->operands[0], needed.lastStage);
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Full)
        demand(output.value, outputStage(output));
  }
  /// Notes that `ref` is read in loop `stage`: what an earlier loop computed is kept, unless it is cheap.
  void demand(Ref ref, int stage) {
    Step *step = ref.step;
    if (step->space != Space::Full || step->kind != Step::Map || !demanded.insert({ref, stage}).second)
      return;
    if (step->stage < stage && !step->cheap) {
      if (!saves.contains(ref))
        saves[ref] = Save();
      stage = step->stage;
    }
    for (Ref operand : step->operands)
      demand(operand, stage);
  }
  int64_t paddedColumns() const { return llvm::alignTo(tiling.columnBlock, lanes); }

  // ---- rows ---------------------------------------------------------------------------------------------------------
  void emitRow(Value newRow) {
    row = newRow;
    rowValues.clear();
    rows.clear();
    outputRows.clear();
    for (Step *step : needed.all)
      if (step->kind == Step::Load && step->findRow)
        rows[step] = step->findRow(e, row);
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Full)
        outputRows[&output] = output.findRow(e, row);
    computeRowSteps(0);
    for (int stage = 0; stage <= needed.lastStage; ++stage) {
      emitStage(stage);
      computeRowSteps(stage + 1);
    }
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Row)
        e.store(output.element, rowValues.at(output.value), output.base, row);
  }
  void computeRowSteps(int stage) {
    for (Step *step : needed.all)
      if (step->space == Space::Row && step->stage == stage && step->kind != Step::Reduce)
        computeRow(step);
  }
  void computeRow(Step *step) {
    SmallVector<Value> operands;
    for (Ref operand : step->operands)
      operands.push_back(rowValues.at(operand));
    SmallVector<Value> made = step->compute(e, Place{row, Value(), Value()}, operands);
    for (auto [i, value] : llvm::enumerate(made))
      rowValues[{step, static_cast<unsigned>(i)}] = value;
  }

  // ---- one loop over the columns of a row ---------------------------------------------------------------------------
  void emitStage(int stage) {
    current = stage;
    auto found = needed.reductions.find(stage);
    if (found != needed.reductions.end())
      return reduceRow(found->second);
    bool works = stage == needed.lastStage && !needed.sums.empty();
    for (const Output &output : graph.getOutputs())
      works |= output.space == Space::Full && outputStage(output) == stage;
    for (auto &[ref, save] : saves)
      works |= ref.step->stage == stage;
    if (works)
      overColumns(columnBegin, columnEnd, {},
                  [&](Value column, Value mask, ValueRange) { return chunk(column, mask, {}, {}); });
  }

  using ChunkBody = llvm::function_ref<SmallVector<Value>(Value column, Value mask, ValueRange carried)>;
  /// Runs `body` over [begin, end), 32 columns at a time, the last of them masked.
  SmallVector<Value> overColumns(Value begin, Value end, ValueRange start, ChunkBody body) {
    Value whole = e.times(e.over(e.minus(end, begin), lanes), lanes);
    Value wholeEnd = e.plus(begin, whole);
    SmallVector<Value> carried =
        e.loop(begin, wholeEnd, lanes, start, [&](Value column, ValueRange in) { return body(column, Value(), in); });
    if (shape.columns % lanes == 0)
      return carried;
    // only the last tile of a row has a rest; with carried values the range is a whole row, whose rest is known
    auto rest = [&](ValueRange in) { return body(wholeEnd, e.lanesBelow(e.minus(end, wholeEnd)), in); };
    if (!start.empty())
      return rest(carried);
    e.when(e.compare(arith::CmpIPredicate::slt, wholeEnd, end), [&] { rest({}); });
    return carried;
  }

  void reduceRow(ArrayRef<Step *> steps) {
    SmallVector<Value> start;
    for (Step *step : steps)
      start.push_back(e.neutral(step->reduction, e.vectorOf(step->element)));
    auto over = [&](Value begin, Value end) {
      return overColumns(begin, end, start,
                         [&](Value column, Value mask, ValueRange in) { return chunk(column, mask, steps, in); });
    };
    int64_t blocksEnd = shape.columns > reductionBlock ? shape.columns / reductionBlock * reductionBlock : 0;
    SmallVector<Value> joined = start;
    auto join = [&](ValueRange a, ValueRange b) {
      SmallVector<Value> made;
      for (auto [i, step] : llvm::enumerate(steps))
        made.push_back(e.combine(step->reduction, a[i], b[i]));
      return made;
    };
    if (blocksEnd)
      joined = e.loop(e.i64(0), e.i64(blocksEnd), reductionBlock, start, [&](Value begin, ValueRange before) {
        SmallVector<Value> made =
            e.loop(begin, e.plus(begin, reductionBlock), lanes, start,
                   [&](Value column, ValueRange in) { return chunk(column, Value(), steps, in); });
        return join(before, made);
      });
    if (blocksEnd < shape.columns) {
      SmallVector<Value> made = over(e.i64(blocksEnd), e.i64(shape.columns));
      joined = blocksEnd ? join(joined, made) : made;
    }
    for (auto [i, step] : llvm::enumerate(steps))
      rowValues[{step, 0}] = e.joinLanes(step->reduction, joined[i]);
  }

  /// Everything that happens at 32 columns: first all is computed, then stored, so that a result may lie on an operand.
  SmallVector<Value> chunk(Value newColumn, Value newMask, ArrayRef<Step *> reduced, ValueRange carried) {
    column = newColumn, mask = newMask;
    values.clear();
    SmallVector<Value> next;
    for (auto [i, step] : llvm::enumerate(reduced)) {
      Value value = full(step->operands[0]);
      if (mask)
        value = e.choose(mask, value, e.neutral(step->reduction, value.getType()));
      next.push_back(e.combine(step->reduction, carried[i], value));
    }
    SmallVector<std::pair<const Output *, Value>> stored;
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Full && outputStage(output) == current)
        stored.push_back({&output, full(output.value)});
    for (auto &[ref, save] : saves)
      if (ref.step->stage == current)
        keep(ref, save);
    if (current == needed.lastStage)
      for (Step *sum : needed.sums)
        addToColumns(sum);
    for (auto [output, value] : stored) {
      const RowAccess &to = outputRows.at(output);
      Value written = to.limit ? e.both(mask, e.lanesBelow(e.minus(to.limit, column))) : mask;
      e.storeVector(output->element, value, to.base, e.plus(to.offset, column), written);
    }
    return next;
  }

  Value full(Ref ref) {
    Step *step = ref.step;
    if (step->space == Space::Row)
      return rowValues.at(ref);
    if (auto known = values.find(ref); known != values.end())
      return known->second;
    if (step->kind == Step::Load) {
      const RowAccess &from = rows.at(step);
      Value read = from.limit ? e.both(mask, e.lanesBelow(e.minus(from.limit, column))) : mask;
      return values[ref] = e.loadVector(step->element, from.base, e.plus(from.offset, column), read);
    }
    if (step->stage < current && !step->cheap) {
      const Save &save = saves.at(ref);
      return values[ref] = e.loadVector(save.element, save.base, column, Value());
    }
    SmallVector<Value> operands;
    for (Ref operand : step->operands)
      operands.push_back(full(operand));
    SmallVector<Value> made = step->compute(e, Place{row, column, mask}, operands);
    for (auto [i, value] : llvm::enumerate(made))
      values[{step, static_cast<unsigned>(i)}] = e.repeat(value);
    return values.at(ref);
  }
  void keep(Ref ref, Save &save) {
    Value value = full(ref);
    if (!save.base) {
      save.element = getElementTypeOrSelf(value.getType());
      save.base = e.stackArray(save.element, llvm::alignTo(shape.columns, lanes));
    }
    e.storeVector(save.element, value, save.base, column, Value());
  }
  void addToColumns(Step *sum) {
    Value value = e.repeat(full(sum->operands[0]));
    Value at = e.minus(column, columnBegin), base = totals.at(sum).second;
    Value before = e.loadVector(sum->element, base, at, Value());
    // lanes beyond the columns lie in the padding of the array
    e.storeVector(sum->element, e.add(before, value), base, at, Value());
  }

  // ---- sums over rows -----------------------------------------------------------------------------------------------
  void emitSums() {
    for (Step *sum : needed.sums)
      e.zero(sum->element, totals.at(sum).first, paddedColumns());
    e.loop(e.i64(0), e.i64(shape.rows), rowSumBlock, [&](Value blockBegin) {
      for (Step *sum : needed.sums)
        e.zero(sum->element, totals.at(sum).second, paddedColumns());
      Value blockEnd = e.least(e.plus(blockBegin, rowSumBlock), e.i64(shape.rows));
      e.loop(blockBegin, blockEnd, 1, [&](Value newRow) { emitRow(newRow); });
      for (Step *sum : needed.sums)
        joinBlock(sum->element, totals.at(sum));
    });
    overColumns(columnBegin, columnEnd, {}, [&](Value newColumn, Value newMask, ValueRange) {
      column = newColumn, mask = newMask;
      values.clear();
      SmallVector<std::pair<const Output *, Value>> stored;
      for (const Output &output : graph.getOutputs())
        if (output.space == Space::Column)
          stored.push_back({&output, ofColumn(output.value)});
      for (auto [output, value] : stored)
        e.storeVector(output->element, value, output->base, column, mask);
      return SmallVector<Value>();
    });
  }
  void joinBlock(Type element, std::pair<Value, Value> arrays) {
    e.loop(e.i64(0), e.i64(paddedColumns()), lanes, [&](Value at) {
      Value total = e.loadVector(element, arrays.first, at, Value());
      e.storeVector(element, e.add(total, e.loadVector(element, arrays.second, at, Value())), arrays.first, at,
                    Value());
    });
  }
  Value ofColumn(Ref ref) {
    if (auto known = values.find(ref); known != values.end())
      return known->second;
    Step *step = ref.step;
    if (step->kind == Step::Sum)
      return values[ref] = e.loadVector(step->element, totals.at(step).first, e.minus(column, columnBegin), Value());
    if (step->kind == Step::Load && step->space == Space::Column)
      return values[ref] = e.loadVector(step->element, step->base, column, mask);
    SmallVector<Value> operands;
    for (Ref operand : step->operands)
      operands.push_back(ofColumn(operand));
    SmallVector<Value> made = step->compute(e, Place{Value(), column, mask}, operands);
    for (auto [i, value] : llvm::enumerate(made))
      values[{step, static_cast<unsigned>(i)}] = step->space == Space::Row ? value : e.repeat(value);
    return values.at(ref);
  }

  Emit &e;
  Graph &graph;
  const KernelShape &shape;
  Tiling tiling;
  Value columnBegin, columnEnd, row, column, mask;
  NeededSteps needed;
  std::set<std::pair<Ref, int>> demanded;
  std::map<Ref, Save> saves;                        ///< rows on the stack
  std::map<Step *, std::pair<Value, Value>> totals; ///< columns on the stack: all rows, and the current block of rows
  std::map<Ref, Value> rowValues, values;           ///< of the row, of the 32 columns
  std::map<Step *, RowAccess> rows;
  std::map<const Output *, RowAccess> outputRows;
  int current = 0; ///< loop over the columns
};
} // namespace

Tiling chooseTiling(const Graph &graph) {
  const KernelShape &shape = graph.getShape();
  Tiling tiling{shape.rows, shape.columns, 1, 1};
  if (graph.hasColumnSums()) {
    // each piece reads the rows' statistics again; short pieces of long rows waste memory bandwidth
    int64_t pieces = graph.hasRowReductions() ? 2 : 4;
    int64_t block = llvm::alignTo(llvm::divideCeil(shape.columns, pieces), lanes);
    tiling.columnBlock = std::min<int64_t>(block, 512);
    tiling.columnBlocks = llvm::divideCeil(shape.columns, tiling.columnBlock);
    return tiling;
  }
  int64_t target = std::clamp<int64_t>(shape.elements() / 16, 2048, 16384);
  bool wholeRows = graph.hasRowReductions();
  for (const Output &output : graph.getOutputs())
    wholeRows |= output.space != Space::Full;
  if (!wholeRows && shape.columns >= 2 * target) {
    tiling.columnBlock = llvm::alignTo(target, lanes);
    tiling.columnBlocks = llvm::divideCeil(shape.columns, tiling.columnBlock);
  }
  tiling.rowBlock = std::clamp<int64_t>(target / tiling.columnBlock, 1, shape.rows);
  tiling.rowBlocks = llvm::divideCeil(shape.rows, tiling.rowBlock);
  return tiling;
}

void emitRows(Emit &emit, Graph &graph, const Tiling &tiling, Value begin, Value end) {
  RowEmitter(emit, graph, tiling).run(begin, end);
}
} // namespace hocket::cpu
