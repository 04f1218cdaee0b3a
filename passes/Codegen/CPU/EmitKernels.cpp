// See Kernels.h: one llvm.func a kernel. What has a graph over rows and columns goes to RowEmitter; attention, rotary
// embedding and the scatter of an embedding's gradient have emitters of their own.
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "passes/Codegen/CPU/Kernels.h"
#include "passes/Codegen/CPU/LowerToLlvm.h"
#include "passes/Codegen/CPU/RowEmitter.h"
#include "passes/Codegen/CPU/SpecialEmitters.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::cpu {
#define GEN_PASS_DEF_CODEGENCPUPASS
#include "passes/Codegen/CPU/Passes.h.inc"

namespace {
/// The inside of one kernel: what its arguments are, and its tiles.
class KernelEmitter {
public:
  KernelEmitter(func::FuncOp kernel, const CpuTarget &target) : kernel(kernel), target(target) {}

  /// Emits into `module`; returns the number of tiles.
  FailureOr<int64_t> run(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i64, i64});
    auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), kernel.getSymName(), type);
    setTargetAttributes(function);
    Block *entry = function.addEntryBlock(builder);
    Emit emit(kernel.getLoc(), entry, arithmeticOf(target));
    FailureOr<int64_t> tiles = emitBody(emit, entry->getArguments());
    if (failed(tiles))
      return failure();
    LLVM::ReturnOp::create(emit, ValueRange());
    return *tiles;
  }

private:
  void setTargetAttributes(LLVM::LLVMFuncOp function) {
    Builder builder(function.getContext());
    SmallVector<Attribute> attributes;
    auto add = [&](StringRef key, StringRef value) {
      attributes.push_back(builder.getArrayAttr({builder.getStringAttr(key), builder.getStringAttr(value)}));
    };
    add("target-cpu", target.cpu);
    if (!target.featureText.empty())
      add("target-features", target.featureText);
    if (target.wideVectors)
      add("prefer-vector-width", "512");
    function.setPassthroughAttr(builder.getArrayAttr(attributes));
  }

  FailureOr<int64_t> emitBody(Emit &e, ValueRange arguments) {
    SmallVector<Value> buffers, scalars;
    auto loadBuffer = [&] {
      buffers.push_back(e.load(e.pointerType(), arguments[0], e.i64(static_cast<int64_t>(buffers.size()))));
    };
    for (Type type : kernel.getArgumentTypes()) {
      if (isa<RankedTensorType>(type))
        loadBuffer();
      else
        scalars.push_back(e.load(e.getI64Type(), arguments[1], e.i64(static_cast<int64_t>(scalars.size()))));
    }
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      loadBuffer();
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ops.push_back(&op);
    SpecialKernel special{kernel, buffers, scalars};
    for (Operation *op : ops)
      if (codegen::roleOf(op) == codegen::Role::Alone)
        return emitSpecial(e, special, op, arguments[2], arguments[3]);
    std::optional<KernelShape> shape = codegen::kernelShape(ops);
    if (!shape)
      return kernel.emitOpError("has ops that cannot be one kernel");
    Graph graph(kernel, *shape, buffers, scalars);
    if (failed(graph.build()))
      return failure();
    Tiling tiling = chooseTiling(graph);
    emitRows(e, graph, tiling, arguments[2], arguments[3]);
    return tiling.tiles();
  }

  func::FuncOp kernel;
  const CpuTarget &target;
};
} // namespace

FailureOr<OwningOpRef<ModuleOp>> emitKernels(ModuleOp module, const CpuTarget &target) {
  module.getContext()
      ->loadDialect<LLVM::LLVMDialect, scf::SCFDialect, cf::ControlFlowDialect, vector::VectorDialect,
                    arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> made = ModuleOp::create(module.getLoc());
  Builder builder(module.getContext());
  bool sound = true;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    FailureOr<int64_t> tiles = KernelEmitter(kernel, target).run(*made);
    sound &= succeeded(tiles);
    if (failed(tiles))
      continue;
    kernel->setAttr(tilesAttr, builder.getI64IntegerAttr(*tiles));
    codegen::noteWork(kernel);
  }
  if (!sound || failed(lowerToLlvm(*made)))
    return failure();
  return made;
}

namespace {
struct CodegenCpu : impl::CodegenCpuPassBase<CodegenCpu> {
  using CodegenCpuPassBase::CodegenCpuPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string error;
    FailureOr<CpuTarget> target = CpuTarget::find(march, error);
    if (failed(target)) {
      module.emitError(error);
      return signalPassFailure();
    }
    FailureOr<OwningOpRef<ModuleOp>> made = emitKernels(module, *target);
    if (failed(made))
      return signalPassFailure();
    SymbolTable symbols(module), functions(**made);
    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!isKernel(kernel))
        continue;
      Operation *function = functions.lookup(kernel.getSymName());
      function->moveBefore(kernel);
      for (StringRef name : {tilesAttr, flopsAttr, bytesAttr})
        function->setAttr(name, kernel->getAttr(name));
      kernel.erase();
    }
  }
};
} // namespace
} // namespace hocket::cpu
