// See GraphEmitters.h: kernels without reductions. A thread has one piece of `lanes` elements of the flat domain;
// pieces of a block lie side by side. Where numbers of the step are costly (powers in double for AdamW), one thread of
// a block computes them for all, and each has several pieces.
#include "passes/Codegen/CUDA/GraphEmitters.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t threads = 256, piecesOfCostly = 4;

class ElementEmitter {
public:
  ElementEmitter(GpuEmit &e, const GpuFrame &frame, const Graph &graph)
      : e(e), frame(frame), graph(graph), needed(graph), shape(graph.getShape()), values(e) {}

  Launch run() {
    bool full = llvm::any_of(graph.getOutputs(), [](const Output &output) { return output.space == Space::Full; });
    return full ? runElements() : runRows();
  }

private:
  /// Only numbers of rows: one thread a row.
  Launch runRows() {
    Launch launch = sized(shape.rows, 1);
    Value row = first(launch);
    e.when(below(row, shape.rows), [&] {
      values.beginRow(row);
      storeRows();
    });
    return launch;
  }
  void storeRows() {
    for (const Output &output : graph.getOutputs())
      if (output.space == Space::Row)
        e.store(output.element, values.ofRow(output.value), output.base, atRow);
  }
  Launch runElements() {
    int64_t lanes = e.lanes(), pieces = shape.elements() / lanes, rest = shape.rows == 1 ? shape.elements() % lanes : 0;
    int64_t each = shape.rows == 1 && !costly().empty() && pieces > threads ? piecesOfCostly : 1;
    Launch launch = sized(std::max<int64_t>(pieces, 1), each);
    Value begin = first(launch, each);
    if (shape.rows == 1)
      values.beginRow(e.i64(0)), shareCostly(), prepare();
    auto piece = [&](Value index) {
      e.when(below(index, pieces), [&] {
        if (shape.rows == 1)
          return elements(e.times(index, lanes));
        Value flat = e.times(index, lanes);
        values.beginRow(e.over(flat, shape.columns));
        elements(e.modulo(flat, shape.columns));
      });
    };
    if (each == 1)
      piece(begin);
    else
      e.loop(begin, e.plus(begin, each * threads), threads, piece);
    if (rest)
      emitRest(pieces * lanes, rest, begin);
    return launch;
  }
  /// The elements of a single row behind its last whole piece, one a thread.
  void emitRest(int64_t from, int64_t count, Value thread) {
    e.when(below(thread, count), [&] {
      e.setLanes(1);
      elements(e.plus(thread, from));
    });
  }
  void prepare() {
    for (const Output &output : graph.getOutputs())
      values.prepare(output.value);
  }
  void elements(Value column) {
    values.beginColumns(column);
    SmallVector<Value> made;
    for (const Output &output : graph.getOutputs())
      made.push_back(values.full(output.value));
    for (auto [output, value] : llvm::zip(graph.getOutputs(), made))
      values.store(output, value);
  }

  /// What is computed of the single row and read by its elements.
  std::set<Ref> costly() const {
    std::set<Ref> found;
    auto add = [&](Ref ref) {
      if (ref.step->space == Space::Row && ref.step->kind == Step::Map)
        found.insert(ref);
    };
    for (Step *step : needed.all)
      if (step->space == Space::Full)
        llvm::for_each(step->operands, add);
    for (const Output &output : graph.getOutputs())
      add(output.value);
    return found;
  }
  /// One thread of the block computes it for all.
  void shareCostly() {
    std::set<Ref> all = costly();
    if (all.empty())
      return;
    struct Slot {
      Ref ref;
      Type type;
      Value shared;
    };
    SmallVector<Slot> slots;
    OpBuilder before(e); // shared arrays are named where all threads are
    before.setInsertionPoint(e.getInsertionBlock(), e.getInsertionPoint());
    e.when(e.compare(arith::CmpIPredicate::eq, e.thread(threads), e.i64(0)), [&] {
      GraphValues own(e);
      own.beginRow(e.i64(0));
      for (Ref ref : all) {
        Value number = own.ofRow(ref);
        slots.push_back({ref, number.getType(), frame.staticShared(before, number.getType(), 1)});
        e.store(number.getType(), number, slots.back().shared, e.i64(0));
      }
    });
    e.barrier();
    for (const Slot &slot : slots)
      values.setRow(slot.ref, e.load(slot.type, slot.shared, e.i64(0)));
  }
  Launch sized(int64_t pieces, int64_t each) {
    Launch launch;
    launch.block[0] = threads;
    launch.grid[0] = llvm::divideCeil(pieces, threads * each);
    return launch;
  }
  Value first(const Launch &launch, int64_t each = 1) {
    Value block = e.times(e.block(launch.grid[0]), threads * each);
    return atRow = e.plus(block, e.thread(threads));
  }
  Value below(Value index, int64_t count) { return e.compare(arith::CmpIPredicate::slt, index, e.i64(count)); }

  GpuEmit &e;
  const GpuFrame &frame;
  const Graph &graph;
  NeededSteps needed;
  const KernelShape &shape;
  GraphValues values;
  Value atRow;
};
} // namespace

int64_t lanesFor(const KernelShape &shape) {
  if (shape.rows == 1 && shape.columns >= 8)
    return 8;
  int64_t most = 8;
  return std::min(most, shape.columns & -shape.columns);
}

bool fitsElements(const Graph &graph, bool mayLieOnOperands) {
  bool full = false, row = false;
  for (const Output &output : graph.getOutputs())
    (output.space == Space::Full ? full : row) = true;
  if (graph.hasRowReductions() || graph.hasColumnSums() || (full && row))
    return false;
  NeededSteps needed(graph);
  bool ofRows = llvm::any_of(needed.all, [](Step *step) { return step->space == Space::Row; });
  return !(mayLieOnOperands && ofRows && graph.getShape().rows > 1);
}

Launch emitElements(GpuEmit &e, const GpuFrame &frame, const Graph &graph) {
  return ElementEmitter(e, frame, graph).run();
}
} // namespace hocket::cuda
