// Makes the training step of the module's model (pass nn-build-training-step).
#include "passes/NN/Passes.h"
#include "passes/NN/TrainingStep.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {
#define GEN_PASS_DEF_BUILDTRAININGSTEPPASS
#include "passes/NN/Passes.h.inc"

namespace {
struct BuildTrainingStepPass : impl::BuildTrainingStepPassBase<BuildTrainingStepPass> {
  using BuildTrainingStepPassBase::BuildTrainingStepPassBase;

  RecipeOp findRecipe() {
    SmallVector<RecipeOp> recipes = llvm::to_vector(getOperation().getOps<RecipeOp>());
    if (recipes.size() == 1 && (recipe.empty() || recipes[0].getSymName() == recipe))
      return recipes[0];
    for (RecipeOp candidate : recipes)
      if (candidate.getSymName() == recipe)
        return candidate;
    std::string names =
        llvm::join(llvm::map_range(recipes, [](RecipeOp r) { return "@" + r.getSymName().str(); }), ", ");
    InFlightDiagnostic diagnostic = getOperation().emitError();
    if (recipes.empty())
      diagnostic << "no recipe is given; a model is trained by one";
    else if (recipe.empty())
      diagnostic << "several recipes and none is chosen: " << names;
    else
      diagnostic << "no recipe is named @" << recipe.getValue() << "; there are " << names;
    return {};
  }

  LogicalResult run() {
    RecipeOp chosen = findRecipe();
    if (!chosen)
      return failure();
    SymbolTable symbols(getOperation());
    auto model = symbols.lookup<ModelOp>(chosen.getModel());
    if (!model)
      return chosen.emitError() << "no model is named @" << chosen.getModel();
    if (Operation *other = symbols.lookup(stepName))
      return other->emitError() << "@" << stepName.getValue() << " is taken; the training step needs the name";
    TrainingStepShape shape{rows, microbatches};
    if (microbatches < 1)
      return chosen.emitError() << "microbatches " << microbatches.getValue() << "; at least 1 is needed";
    if (auto batch = chosen.entry<BatchOp>(); batch && rows == 0) {
      int64_t below = batch.getSequences() / microbatches * microbatches;
      if (below != static_cast<int64_t>(batch.getSequences()))
        return batch.emitError() << "batch " << batch.getSequences() << " is not divisible by "
                                 << microbatches.getValue()
                                 << " microbatches; nearest: " << (below ? std::to_string(below) + " and " : "")
                                 << below + microbatches;
      shape.rows = batch.getSequences() / microbatches;
    }
    FlatSymbolRefAttr planName = plan.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get(&getContext(), plan);
    return buildTrainingStep(model, chosen, planName, stepName, shape);
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace hocket::nn
