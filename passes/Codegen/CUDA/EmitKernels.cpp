// See Kernels.h: which emitter writes a kernel, and the pass.
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Codegen/CUDA/GraphEmitters.h"
#include "passes/Codegen/CUDA/LowerToNvvm.h"
#include "passes/Codegen/CUDA/SpecialEmitters.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
#define GEN_PASS_DEF_CODEGENCUDAPASS
#include "passes/Codegen/CUDA/Passes.h.inc"

namespace {
/// A kernel over rows x columns: its graph is built once for each GPU kernel, with that kernel's buffers.
class GraphKernel {
public:
  GraphKernel(func::FuncOp kernel, const KernelShape &shape, ModuleOp into) : kernel(kernel), shape(shape), into(into) {
    inPlace = kernel->hasAttr(codegen::inPlaceAttr);
    kernel.walk([&](nn::PickOp) { picks = true; });
  }

  LogicalResult run() {
    unsigned tensors = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
    SmallVector<Value> none(kernel.getNumArguments() + kernel.getNumResults());
    Graph graph(kernel, shape, ArrayRef<Value>(none).take_front(tensors + kernel.getNumResults()), none);
    if (failed(graph.build()))
      return failure();
    if (graph.hasColumnSums())
      return sumColumns(graph);
    StepKernel step(kernel, into, 0);
    if (fitsElements(graph, inPlace) && !(inPlace && picks))
      addLaunch(step, lanesFor(shape), [&](GpuEmit &e, GpuFrame &, Graph &own) { return emitElements(e, own); });
    else
      addLaunch(step, rowLanes(), [&](GpuEmit &e, GpuFrame &, Graph &own) {
        RowOutputs outputs;
        for (const codegen::Output &output : own.getOutputs())
          outputs.outputs.push_back(&output);
        return emitRows(e, own, NeededSteps(own), outputs, inPlace);
      });
    step.finish();
    return success();
  }

private:
  int64_t rowLanes() const { return std::min<int64_t>(8, shape.columns & -shape.columns); }

  void addLaunch(StepKernel &step, int64_t lanes, function_ref<Launch(GpuEmit &, GpuFrame &, Graph &)> body) {
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, lanes);
      Graph graph(kernel, shape, frame.buffers(), frame.scalars());
      [[maybe_unused]] LogicalResult built = graph.build(); // as it did before
      return body(e, frame, graph);
    });
  }

  LogicalResult sumColumns(const Graph &graph) {
    NeededSteps needed(graph);
    ColumnPlan plan(shape, needed.sums);
    int64_t statistics = 0;
    for (auto &[stage, steps] : needed.reductions)
      statistics += static_cast<int64_t>(steps.size());
    int64_t each = llvm::alignTo(shape.rows * 8, 16);
    StepKernel step(kernel, into, statistics * each + plan.partialBytes());
    auto numbersOfRows = [&](GpuEmit &e, GpuFrame &frame, const NeededSteps &own) {
      SmallVector<std::pair<Ref, Value>> numbers;
      for (auto &[stage, steps] : own.reductions)
        for (Step *reduce : steps)
          numbers.push_back({{reduce, 0}, frame.scratch(e, static_cast<int64_t>(numbers.size()) * each)});
      return numbers;
    };
    if (statistics)
      addLaunch(step, rowLanes(), [&](GpuEmit &e, GpuFrame &frame, Graph &own) {
        NeededSteps steps(own);
        return emitRows(e, own, steps, RowOutputs{{}, numbersOfRows(e, frame, steps)}, false);
      });
    addLaunch(step, plan.lanes, [&](GpuEmit &e, GpuFrame &frame, Graph &own) {
      NeededSteps steps(own);
      auto numbers = numbersOfRows(e, frame, steps);
      return emitPartialSums(e, frame, own, steps, plan, numbers, frame.scratch(e, statistics * each));
    });
    addLaunch(step, 1, [&](GpuEmit &e, GpuFrame &frame, Graph &own) {
      return emitJoinedSums(e, frame, own, NeededSteps(own), plan, frame.scratch(e, statistics * each));
    });
    step.finish();
    return success();
  }

  func::FuncOp kernel;
  const KernelShape &shape;
  ModuleOp into;
  bool inPlace = false, picks = false;
};

LogicalResult emitKernel(func::FuncOp kernel, ModuleOp into) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (codegen::roleOf(op) == codegen::Role::Alone)
      return emitSpecial(kernel, op, into);
  std::optional<KernelShape> shape = codegen::kernelShape(ops);
  if (!shape)
    return kernel.emitOpError("has ops that cannot be one kernel");
  return GraphKernel(kernel, *shape, into).run();
}
} // namespace

FailureOr<OwningOpRef<ModuleOp>> emitKernels(ModuleOp module) {
  module.getContext()
      ->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect, cf::ControlFlowDialect,
                    vector::VectorDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> made = ModuleOp::create(module.getLoc());
  bool sound = true;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    if (!codegen::isKernel(kernel))
      continue;
    if (failed(emitKernel(kernel, *made))) {
      sound = false;
      continue;
    }
    codegen::noteWork(kernel);
  }
  if (!sound)
    return failure();
  for (ModuleOp kernel : made->getOps<ModuleOp>())
    if (failed(lowerToNvvm(kernel)))
      return failure();
  return made;
}

namespace {
struct CodegenCuda : impl::CodegenCudaPassBase<CodegenCuda> {
  using CodegenCudaPassBase::CodegenCudaPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<OwningOpRef<ModuleOp>> made = emitKernels(module);
    if (failed(made))
      return signalPassFailure();
    SymbolTable symbols(module), modules(**made);
    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!codegen::isKernel(kernel))
        continue;
      Operation *own = modules.lookup(kernel.getSymName());
      own->moveBefore(kernel);
      for (StringRef name : {StringRef(launchesAttr), StringRef(scratchAttr), StringRef(codegen::flopsAttr),
                             StringRef(codegen::bytesAttr)})
        own->setAttr(name, kernel->getAttr(name));
      kernel.erase();
      if (!ptx.empty() && failed(addPtx(cast<ModuleOp>(own))))
        signalPassFailure();
    }
  }
  LogicalResult addPtx(ModuleOp kernel) {
    auto text = [&]() -> llvm::Expected<std::string> {
      auto toolkit = Toolkit::find();
      if (!toolkit)
        return toolkit.takeError();
      auto bitcode = translateKernel(kernel, *toolkit);
      return bitcode ? emitPtx(*bitcode, ptx) : bitcode.takeError();
    }();
    if (!text)
      return kernel.emitError(llvm::toString(text.takeError()));
    kernel->setAttr("hocket.ptx", StringAttr::get(kernel.getContext(), *text));
    return success();
  }
};
} // namespace
} // namespace hocket::cuda
