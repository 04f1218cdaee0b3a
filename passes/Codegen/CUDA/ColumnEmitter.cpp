// See GraphEmitters.h: sums down the columns. A block of 32 x 8 threads has 32 pieces of columns and one group of rows,
// of which thread y adds every eighth; their sums meet in shared memory and go to the scratch. A second kernel adds the
// groups in order. Which rows make a group depends on the shape alone: the same bits whatever the GPU.
#include "passes/Codegen/CUDA/GraphEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t across = 32, down = 8; ///< threads of a block
/// Blocks that keep a large GPU busy.
constexpr int64_t manyBlocks = 512;

/// Adds what the `down` threads of each column hold, `lanes` columns a thread; threads of y = 0 get the sums of column
/// thread (of across * lanes), one a thread where `lanes` is 1. `use`: called on threads that have a sum.
void joinDown(GpuEmit &e, const GpuFrame &frame, Value x, Value y, ArrayRef<Value> vectors,
              function_ref<void(Value column, SmallVector<Value> sums)> use) {
  int64_t width = across * e.lanes(), threads = across * down;
  SmallVector<Value> arrays;
  for (Value vector : vectors) {
    Type element = getElementTypeOrSelf(vector.getType());
    arrays.push_back(frame.staticShared(e, element, width * down));
    e.storeVector(element, vector, arrays.back(), e.plus(e.times(y, width), e.times(x, e.lanes())), Value());
  }
  e.barrier();
  Value column = e.plus(e.times(y, across), x);
  auto add = [&] {
    SmallVector<Value> sums;
    for (auto [array, vector] : llvm::zip(arrays, vectors)) {
      Type element = getElementTypeOrSelf(vector.getType());
      Value sum = e.load(element, array, column);
      for (int64_t i = 1; i < down; ++i)
        sum = e.add(sum, e.load(element, array, e.plus(column, i * width)));
      sums.push_back(sum);
    }
    use(column, sums);
  };
  if (width == threads)
    add();
  else
    e.when(e.compare(arith::CmpIPredicate::slt, column, e.i64(width)), add);
}
} // namespace

ColumnPlan::ColumnPlan(const KernelShape &shape, ArrayRef<Step *> sums)
    : rows(shape.rows), columns(shape.columns), lanes(std::min<int64_t>(8, shape.columns & -shape.columns)),
      bytesOfColumn(0) {
  for (Step *sum : sums)
    bytesOfColumn += sum->element.getIntOrFloatBitWidth() / 8;
  int64_t wanted = std::clamp<int64_t>(manyBlocks / columnBlocks(), 1, llvm::divideCeil(rows, 4 * down));
  rowsOfGroup = llvm::divideCeil(rows, wanted);
  groups = llvm::divideCeil(rows, rowsOfGroup);
}
int64_t ColumnPlan::columnBlocks() const { return llvm::divideCeil(columns, across * lanes); }
int64_t ColumnPlan::partialBytes() const { return bytesOfColumn * groups * columns; }

Launch emitPartialSums(GpuEmit &e, const GpuFrame &frame, const Graph &graph, const NeededSteps &needed,
                       const ColumnPlan &plan, ArrayRef<std::pair<Ref, Value>> rowNumbers, Value partial) {
  Launch launch;
  launch.block = {across, down, 1}, launch.grid = {plan.columnBlocks(), plan.groups, 1};
  Value x = e.thread(across), y = e.threadY(down), blockX = e.block(plan.columnBlocks()), group = e.blockY(plan.groups);
  Value own = e.plus(e.times(blockX, across * plan.lanes), e.times(x, plan.lanes)), column = own, there;
  Value begin = e.times(group, plan.rowsOfGroup), first = e.plus(begin, y);
  Value end = e.least(e.plus(begin, plan.rowsOfGroup), e.i64(plan.rows));
  if (plan.columns % (across * plan.lanes)) { // threads beyond the columns read nothing: a result may lie on an operand
    there = e.compare(arith::CmpIPredicate::slt, own, e.i64(plan.columns));
    column = e.choose(there, own, e.i64(0));
    first = e.choose(there, first, end);
  }
  SmallVector<Value> start;
  for (Step *sum : needed.sums)
    start.push_back(e.number(0, e.vectorOf(sum->element)));
  SmallVector<Value> sums = e.loop(first, end, down, start, [&](Value row, ValueRange carried) {
    GraphValues values(e);
    values.beginRow(row);
    for (auto [ref, base] : rowNumbers)
      values.setRow(ref, e.load(ref.step->element, base, row));
    values.beginColumns(column);
    SmallVector<Value> next, made;
    for (auto [sum, so] : llvm::zip(needed.sums, carried))
      next.push_back(e.add(so, e.repeat(values.full(sum->operands[0]))));
    SmallVector<const Output *> stored;
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Full)
        made.push_back(e.repeat(values.full(output.value))), stored.push_back(&output);
    auto store = [&] {
      for (auto [output, value] : llvm::zip(stored, made))
        values.store(*output, value);
    };
    if (there && !stored.empty())
      e.when(there, store);
    else
      store();
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Row) {
        Value number = values.ofRow(output.value);
        e.when(e.compare(arith::CmpIPredicate::eq, own, e.i64(0)),
               [&] { e.store(output.element, number, output.base, row); });
      }
    return next;
  });
  joinDown(e, frame, x, y, sums, [&](Value inBlock, SmallVector<Value> joined) {
    Value at = e.plus(e.times(blockX, across * plan.lanes), inBlock);
    e.when(e.compare(arith::CmpIPredicate::slt, at, e.i64(plan.columns)), [&] {
      for (auto [i, sum] : llvm::enumerate(joined)) {
        Value row = e.plus(group, static_cast<int64_t>(i) * plan.groups);
        e.store(sum.getType(), sum, partial, e.plus(e.times(row, plan.columns), at));
      }
    });
  });
  return launch;
}

Launch emitJoinedSums(GpuEmit &e, const GpuFrame &frame, const Graph &graph, const NeededSteps &needed,
                      const ColumnPlan &plan, Value partial) {
  Launch launch;
  launch.block = {across, down, 1}, launch.grid[0] = llvm::divideCeil(plan.columns, across);
  Value x = e.thread(across), y = e.threadY(down);
  Value own = e.plus(e.times(e.block(launch.grid[0]), across), x);
  Value there = e.compare(arith::CmpIPredicate::slt, own, e.i64(plan.columns)), column = e.choose(there, own, e.i64(0));
  SmallVector<Value> start;
  for (Step *sum : needed.sums)
    start.push_back(e.number(0, e.vectorOf(sum->element)));
  SmallVector<Value> sums = e.loop(y, e.i64(plan.groups), down, start, [&](Value group, ValueRange carried) {
    SmallVector<Value> next;
    for (auto [i, so] : llvm::enumerate(carried)) {
      Value row = e.plus(group, static_cast<int64_t>(i) * plan.groups);
      next.push_back(e.add(
          so, e.loadVector(needed.sums[i]->element, partial, e.plus(e.times(row, plan.columns), column), Value())));
    }
    return next;
  });
  joinDown(e, frame, x, y, sums, [&](Value, SmallVector<Value> joined) {
    e.when(there, [&] {
      GraphValues values(e);
      values.beginColumns(column);
      for (auto [step, sum] : llvm::zip(needed.sums, joined))
        values.setColumn({step, 0}, e.repeat(sum));
      SmallVector<std::pair<const Output *, Value>> made;
      for (const Output &output : graph.getOutputs())
        if (output.space == Space::Column)
          made.push_back({&output, e.repeat(values.ofColumn(output.value))});
      for (auto [output, value] : made)
        e.storeVector(output->element, value, output->base, column, Value());
    });
  });
  return launch;
}
} // namespace hocket::cuda
