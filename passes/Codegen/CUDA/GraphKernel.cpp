// See GraphKernel.h.
#include "passes/Codegen/CUDA/GraphKernel.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
static int64_t rowLanes(const KernelShape &shape) { return std::min<int64_t>(8, shape.columns & -shape.columns); }

LogicalResult GraphKernel::plan() {
  SmallVector<Operation *> ops;
  bool picks = false, inPlace = kernel->hasAttr(codegen::inPlaceAttr);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    ops.push_back(&op);
    picks |= isa<nn::PickOp>(op);
  }
  std::optional<KernelShape> found = codegen::kernelShape(ops);
  if (!found)
    return kernel.emitOpError("has ops that cannot be one kernel");
  shape = *found;
  unsigned tensors = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
  SmallVector<Value> none(kernel.getNumArguments() + kernel.getNumResults());
  Graph graph(kernel, shape, ArrayRef<Value>(none).take_front(tensors + kernel.getNumResults()), none);
  if (failed(graph.build()))
    return failure();
  if (graph.hasColumnSums())
    planSums(graph);
  else if (fitsElements(graph, inPlace) && !(inPlace && picks))
    addStage(lanesFor(shape), [](GpuEmit &e, GpuFrame &frame, Graph &own) { return emitElements(e, frame, own); });
  else
    addStage(rowLanes(shape), [inPlace](GpuEmit &e, GpuFrame &, Graph &own) {
      RowOutputs outputs;
      for (const codegen::Output &output : own.getOutputs())
        outputs.outputs.push_back(&output);
      return emitRows(e, own, NeededSteps(own), outputs, inPlace);
    });
  return success();
}

/// Sums down the columns: statistics of rows, partial sums of groups of rows, the groups in order.
void GraphKernel::planSums(const Graph &graph) {
  NeededSteps needed(graph);
  ColumnPlan plan(shape, needed.sums);
  int64_t statistics = 0;
  for (auto &[stage, steps] : needed.reductions)
    statistics += static_cast<int64_t>(steps.size());
  int64_t each = llvm::alignTo(shape.rows * 8, 16), behind = statistics * each;
  scratch = behind + plan.partialBytes();
  auto numbersOfRows = [each](GpuEmit &e, GpuFrame &frame, const NeededSteps &own) {
    SmallVector<std::pair<Ref, Value>> numbers;
    for (auto &[stage, steps] : own.reductions)
      for (Step *reduce : steps)
        numbers.push_back({{reduce, 0}, frame.scratch(e, static_cast<int64_t>(numbers.size()) * each)});
    return numbers;
  };
  if (statistics)
    addStage(rowLanes(shape), [=](GpuEmit &e, GpuFrame &frame, Graph &own) {
      NeededSteps steps(own);
      return emitRows(e, own, steps, RowOutputs{{}, numbersOfRows(e, frame, steps)}, false);
    });
  addStage(plan.lanes, [=](GpuEmit &e, GpuFrame &frame, Graph &own) {
    NeededSteps steps(own);
    auto numbers = numbersOfRows(e, frame, steps);
    return emitPartialSums(e, frame, own, steps, plan, numbers, frame.scratch(e, behind));
  });
  addStage(1, [=](GpuEmit &e, GpuFrame &frame, Graph &own) {
    return emitJoinedSums(e, frame, own, NeededSteps(own), plan, frame.scratch(e, behind));
  });
}

Launch GraphKernel::write(size_t which, GpuFrame &frame) const {
  GpuEmit e(frame, stages[which].lanes);
  Graph graph(kernel, shape, frame.buffers(), frame.scalars());
  [[maybe_unused]] LogicalResult built = graph.build(); // as it did before
  return stages[which].body(e, frame, graph);
}
} // namespace hocket::cuda
