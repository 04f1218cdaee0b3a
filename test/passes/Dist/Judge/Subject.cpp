// Judges and runs copies of a partitioned model.
#include "test/passes/Dist/Judge/Subject.h"
#include "mlir/IR/Verifier.h"
using namespace mlir;

namespace hocket::testing {
using interpreter::Interpreter;

nn::TrainingStepOp stepOf(ModuleOp module) { return *module.getOps<nn::TrainingStepOp>().begin(); }

SmallVector<Operation *> opsOf(ModuleOp module) {
  nn::TrainingStepOp step = stepOf(module);
  SmallVector<Operation *> ops;
  for (Region *region : {&step.getBegin(), &step.getMicrobatch(), &step.getUpdate(), &step.getEvaluate()})
    for (Operation &op : region->front())
      ops.push_back(&op);
  return ops;
}

static dist::MeshOp meshOf(ModuleOp module) { return *module.getOps<dist::MeshOp>().begin(); }

Subject::Subject(const TestModel &model, const TestPlan &plan)
    : model(model), program(compilePlan(model, plan, 2 * plan.dp, 2)),
      batch(randomBatch(2, 2 * plan.dp, model.sequence, model.vocabulary, 5)) {
  dist::addLockstepCollectives(ops);
  if (!compiled())
    return;
  reference = interpreterOf(*program.module);
  if (auto result = reference->train(batch); succeeded(result))
    expected = *result;
}

std::unique_ptr<Interpreter> Subject::interpreterOf(ModuleOp module) const {
  interpreter::RankGrid grid = dist::rankGridOf(meshOf(module));
  auto made = std::make_unique<Interpreter>(stepOf(module), grid, &ops, dist::slotLayoutOf(grid));
  made->initialize(3);
  return made;
}

bool Subject::accepts(ModuleOp module, std::string *said) {
  ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diag) {
    if (said)
      *said += diag.str() + "\n";
    return success();
  });
  return succeeded(verify(module)) && succeeded(dist::judgePartition(stepOf(module), meshOf(module)));
}

/// The shapes of a collective are those that its axes make.
static bool fits(Operation *op, dist::MeshOp mesh) {
  if (!isa<dist::AllGatherOp, dist::ReduceScatterOp, dist::SliceOp, dist::AllToAllOp>(op))
    return true;
  ArrayRef<dist::AxisRef> axes = op->getAttrOfType<dist::AxesAttr>("axes").getRefs();
  auto sizeOf = [](Value value, int64_t dim) {
    return cast<RankedTensorType>(value.getType()).getDimSize(static_cast<unsigned>(dim));
  };
  auto cuts = [&](int64_t dim, Value whole, Value part) {
    return dist::localSize(mesh, sizeOf(whole, dim), axes) == sizeOf(part, dim);
  };
  Value x = op->getOperand(0), y = op->getResult(0);
  if (auto exchange = dyn_cast<dist::AllToAllOp>(op))
    return cuts(exchange.getSplitDimAttr().getInt(), x, y) && cuts(exchange.getGatherDimAttr().getInt(), y, x);
  int64_t dim = op->getAttrOfType<IntegerAttr>("dim").getInt();
  return isa<dist::AllGatherOp>(op) ? cuts(dim, y, x) : cuts(dim, x, y);
}

bool Subject::hasMeaning(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(module)) &&
         llvm::all_of(opsOf(module), [&](Operation *op) { return fits(op, meshOf(module)); });
}

bool Subject::runsAlike(ModuleOp module) const {
  constexpr double tolerance = 1e-9;
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  std::unique_ptr<Interpreter> other = interpreterOf(module);
  auto found = other->train(batch);
  if (failed(found))
    return false;
  if (!(std::abs(found->loss - expected.loss) <= tolerance &&
        std::abs(found->gradNorm - expected.gradNorm) <= tolerance && found->tokens == expected.tokens))
    return false;
  auto differences = interpreter::compare(*reference, *other);
  return succeeded(differences) && llvm::all_of(*differences, [&](const interpreter::TensorDifference &difference) {
           return std::min(difference.relative, difference.absolute) <= tolerance;
         });
}
} // namespace hocket::testing
