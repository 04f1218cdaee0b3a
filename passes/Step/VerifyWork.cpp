// Work of step-verify-program: kernels against their buffers, collectives against their groups.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Step/VerifyProgram.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static std::string kernelHint(VerifyContext &context, StringRef name) {
  SmallVector<StringRef> known;
  for (auto kernel : cast<ModuleOp>(context.symbols.getOp()).getOps<func::FuncOp>())
    known.push_back(kernel.getSymName());
  return nn::knownNames(name, known);
}

/// A kernel's argument or result as it lies in memory.
static bool holds(Type buffer, Type tensor) {
  auto memref = dyn_cast<MemRefType>(buffer);
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  return memref && ranked && memref.getShape() == ranked.getShape() &&
         memref.getElementType() == ranked.getElementType();
}

static void verifyLaunch(VerifyContext &context, LaunchOp launch) {
  auto kernel = context.symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!kernel) {
    context.fault(launch) << "unknown kernel '" << launch.getKernel() << "'" << kernelHint(context, launch.getKernel());
    return;
  }
  SmallVector<Type> tensors, numbers;
  for (Type type : kernel.getArgumentTypes())
    (isa<RankedTensorType>(type) ? tensors : numbers).push_back(type);
  auto counts = [&](StringRef what, size_t takes, size_t given) {
    if (takes == given)
      return true;
    auto error = context.fault(launch) << "kernel '" << launch.getKernel() << "' has " << takes << ' ' << what
                                       << ", launched with " << given;
    error.attachNote(kernel.getLoc()) << "kernel defined here";
    return false;
  };
  bool fits = counts("tensors to read", tensors.size(), launch.getInputs().size());
  fits &= counts("numbers", numbers.size(), launch.getScalars().size());
  fits &= counts("results", kernel.getNumResults(), launch.getOuts().size());
  if (!fits)
    return;
  auto types = [&](StringRef what, TypeRange given, TypeRange wanted) {
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(given, wanted)))
      if (auto [buffer, tensor] = pair; !holds(buffer, tensor)) {
        auto error = context.fault(launch) << what << ' ' << i << " of kernel '" << launch.getKernel() << "' is "
                                           << buffer << ", expected " << tensor;
        error.attachNote(kernel.getLoc()) << "kernel defined here";
      }
  };
  types("operand", launch.getInputs().getTypes(), tensors);
  types("result", launch.getOuts().getTypes(), kernel.getResultTypes());
  for (Value scalar : launch.getScalars())
    if (!scalar.getDefiningOp<RankScalarOp>())
      context.fault(launch) << "a number of kernel '" << launch.getKernel() << "' is no rank_scalar";
}

static void verifyGroup(VerifyContext &context, CollectiveOp collective) {
  for (const dist::AxisRef &ref : collective.getAxes().getRefs())
    if (context.mesh.getAxisSize(ref.name) == 0) {
      context.fault(collective) << sayWork(collective) << " is over the axis " << ref.name
                                << ", which the mesh does not have";
      return;
    }
  int64_t ranks = dist::axesSize(context.mesh, collective.getAxes().getRefs());
  if (auto stages = collective.getStages()) {
    if (collective.getAxes().getRefs().size() != 1 || !context.spansStages(collective)) {
      context.fault(collective) << sayWork(collective) << " names stages, and is not over the axis of stages alone";
      return;
    }
    ranks = stages->size();
  }
  int64_t in = cast<ShapedType>(collective.getInput().getType()).getNumElements();
  int64_t out = cast<ShapedType>(collective.getOuts().front().getType()).getNumElements();
  CollectiveKind kind = collective.getKind();
  bool fits = kind == CollectiveKind::ReduceScatter ? in == out * ranks
              : kind == CollectiveKind::AllGather   ? in * ranks == out
              : kind == CollectiveKind::AllToAll    ? in == out && in % ranks == 0
                                                    : in == out;
  if (!fits)
    context.fault(collective) << sayWork(collective) << " over " << ranks << " ranks makes " << out << " elements of "
                              << in;
}

void hocket::step::verifyWork(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    for (auto body : program.ops<BodyOp>())
      for (Operation &op : body.getBody().front()) {
        if (!isa<LaunchOp, GemmOp, CollectiveOp, TransferOp, AwaitOp, RankScalarOp>(op)) {
          context.fault(&op) << op.getName().getStringRef()
                             << " is left; fusion and step-plan-memory leave launches, products, "
                             << "collectives, transfers, awaits and numbers of the rank";
          continue;
        }
        if (op.getNumResults() && !isa<RankScalarOp>(op)) {
          context.fault(&op) << sayWork(&op) << " makes tensors; step-plan-memory leaves buffers";
          continue;
        }
        if (auto launch = dyn_cast<LaunchOp>(op))
          verifyLaunch(context, launch);
        if (auto collective = dyn_cast<CollectiveOp>(op); collective && !collective.getOuts().empty())
          verifyGroup(context, collective);
      }
}
