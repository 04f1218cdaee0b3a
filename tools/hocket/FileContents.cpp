// See FileContents.h.
#include "tools/hocket/FileContents.h"
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "tools/hocket/Session.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

static void checkPlaces(ModuleOp module) {
  for (Operation &op : *module.getBody())
    if (!isa<nn::BlockOp, nn::ModelOp, nn::RecipeOp, dist::MeshOp, dist::PlanOp>(op))
      op.emitError() << "'" << op.getName()
                     << "' has no place in a model file; legal are nn.block, nn.model, nn.recipe, "
                     << "dist.mesh and dist.plan";
}

static void checkAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isa<nn::NNDialect, dist::DistDialect>(op->getDialect()))
      return;
    SmallVector<StringRef> legal(
        llvm::map_range(op->getName().getAttributeNames(), [](StringAttr name) { return name.getValue(); }));
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      auto error = op->emitError() << "'" << op->getName() << "' has an attribute '" << attribute.getName().getValue()
                                   << "', which nobody reads; ";
      if (legal.empty())
        error << "it takes none";
      else
        error << "it takes " << llvm::join(legal, ", ");
      if (StringRef near = nn::nearestName(attribute.getName().getValue(), legal); !near.empty())
        error << "; did you mean '" << near << "'?";
    }
  });
}

static void checkRecipes(ModuleOp module) {
  if (llvm::range_size(module.getOps<nn::ModelOp>()) < 2)
    return; // of the only one, choosing a plan speaks
  for (auto model : module.getOps<nn::ModelOp>())
    if (llvm::none_of(module.getOps<nn::RecipeOp>(),
                      [&](nn::RecipeOp recipe) { return recipe.getModel() == model.getSymName(); }))
      model.emitError() << "no recipe trains model '" << model.getSymName()
                        << "'; each model of a file has one: nn.recipe @NAME for @" << model.getSymName();
}

void hocket::tools::checkFileContents(Session &session) {
  checkPlaces(session.module());
  checkAttributes(session.module());
  checkRecipes(session.module());
}
