// Checks what spans ops in models and recipes (pass nn-verify-model).
#include "dialect/NN/Router.h"
#include "passes/NN/ParameterSettings.h"
#include "passes/NN/Passes.h"
using namespace mlir;

namespace hocket::nn {
#define GEN_PASS_DEF_VERIFYMODELPASS
#include "passes/NN/Passes.h.inc"

namespace {
class ModelVerifier {
public:
  explicit ModelVerifier(ModelOp model) : model(model) {
    for (auto recipe : model->getParentOfType<ModuleOp>().getOps<RecipeOp>())
      if (recipe.getModel() == model.getSymName())
        recipes.push_back(recipe);
    params = llvm::to_vector(model.getBody().getOps<ParamOp>());
  }
  bool run() {
    verifyArguments();
    verifyParameters();
    verifyCount();
    verifyTypes();
    verifyRouters();
    for (RecipeOp recipe : recipes)
      sound &= succeeded(verifyGroups(recipe, params));
    return sound;
  }

private:
  InFlightDiagnostic fault(Operation *op) {
    sound = false;
    return op->emitError();
  }
  void verifyArguments();
  void verifyParameters();
  void verifyCount();
  void verifyTypes();
  void verifyRouters();
  void verifyCapacity(RouterOp router, RecipeOp recipe);

  ModelOp model;
  SmallVector<RecipeOp> recipes;
  SmallVector<ParamOp> params;
  bool sound = true;
};

void ModelVerifier::verifyArguments() {
  for (BlockArgument arg : model.getBody().getArguments()) {
    if (!arg.use_empty())
      continue;
    std::optional<ArrayAttr> names = model.getArgNames();
    std::string name = names && arg.getArgNumber() < names->size()
                           ? cast<StringAttr>((*names)[arg.getArgNumber()]).str()
                           : std::to_string(arg.getArgNumber());
    fault(model) << "argument '" << name << "' of model @" << model.getSymName() << " is not used";
  }
}

/// Types say how many tokens an expert takes, and the recipe says why: both must say the same. One message for layers
/// that are alike.
void ModelVerifier::verifyRouters() {
  llvm::DenseSet<std::pair<Type, Type>> known;
  for (auto router : model.getBody().getOps<RouterOp>())
    if (known.insert({router.getLogits().getType(), router.getTokens().getType()}).second)
      for (RecipeOp recipe : recipes)
        verifyCapacity(router, recipe);
}

void ModelVerifier::verifyCapacity(RouterOp router, RecipeOp recipe) {
  auto capacity = recipe.entry<CapacityOp>();
  std::string where = getPath(router).empty() ? "" : (" in " + getPath(router)).str();
  if (!capacity) {
    InFlightDiagnostic diag = fault(recipe)
                              << "recipe @" << recipe.getSymName() << " needs 'capacity': model @" << model.getSymName()
                              << " has experts, and the recipe says how many tokens of a sequence each takes";
    diag.attachNote(router.getLoc()) << "the experts of this router";
    return;
  }
  ArrayRef<int64_t> logits = router.getLogits().getType().getShape();
  int64_t found = router.getTokens().getType().getDimSize(2), top = router.getTopAttr().getInt();
  double factor = capacity.getFactor().convertToDouble();
  int64_t expected = expertCapacity(top, logits[1], factor, logits[2]);
  if (found == expected)
    return;
  InFlightDiagnostic diag = fault(router);
  diag << "router" << where << " takes " << found << " tokens of a sequence for each expert, expected " << expected
       << " = ceil(" << top << " * " << logits[1] << " * " << realText(factor) << " / " << logits[2] << ")";
  diag.attachNote(capacity.getLoc()) << "the capacity of recipe @" << recipe.getSymName();
}

/// A parameter that the loss does not depend on would stay at its initial value for ever.
void ModelVerifier::verifyParameters() {
  if (params.empty())
    fault(model) << "model @" << model.getSymName() << " has no parameters; there is nothing to train";
  for (RecipeOp recipe : recipes)
    if (!params.empty() && llvm::all_of(params, [&](ParamOp param) { return settingsOf(recipe, param).frozen; }))
      fault(recipe) << "recipe @" << recipe.getSymName() << " freezes all " << params.size() << " parameters of model @"
                    << model.getSymName() << "; there is nothing to train";
  llvm::DenseSet<Value> reached = valuesOnLossPath(model);
  for (ParamOp param : params) {
    if (reached.contains(param.getValue()))
      continue;
    auto trains = [&](RecipeOp recipe) { return !settingsOf(recipe, param).frozen; };
    auto trainer = llvm::find_if(recipes, trains);
    if (!recipes.empty() && trainer == recipes.end())
      continue;
    InFlightDiagnostic diagnostic = fault(param)
                                    << "no gradient reaches parameter '" << param.getName()
                                    << "': no path to the loss; use it, or freeze it by a group of the recipe";
    if (trainer != recipes.end())
      diagnostic.attachNote(trainer->getLoc()) << "recipe @" << trainer->getSymName() << " trains it";
  }
}

/// The count of the whole batch is taken from the labels before the first microbatch runs.
void ModelVerifier::verifyCount() {
  Operation *ret = model.getBody().front().getTerminator();
  if (ret->getNumOperands() != 2)
    return; // the model's own verifier speaks
  Operation *counter = ret->getOperand(1).getDefiningOp();
  Value labels;
  if (auto loss = dyn_cast_if_present<CrossEntropyOp>(counter))
    labels = loss.getLabels();
  else if (auto count = dyn_cast_if_present<CountTokensOp>(counter))
    labels = count.getLabels();
  if (!labels)
    fault(ret) << "the second result of model @" << model.getSymName()
               << " is the count of tokens: that of a cross_entropy or count_tokens";
  else if (!isa<BlockArgument>(labels))
    fault(counter)
        << "labels are computed; they must be an argument of the model, so that the tokens of a whole batch can "
           "be counted before it runs";
}

/// The line that a user wrote an op in, whatever calls it was put in place by.
static Location writtenAt(Operation *op) {
  Location loc = op->getLoc();
  for (;;) {
    if (auto name = dyn_cast<NameLoc>(loc))
      loc = name.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(loc))
      loc = call.getCallee();
    else
      return loc;
  }
}

/// Types of floats are the recipe's. Told where another one comes in, not at all that is made of it, and once for a
/// line that many layers share.
void ModelVerifier::verifyTypes() {
  auto other = [](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && !element.isF32() ? element : FloatType();
  };
  StringRef rest =
      "; a model is written in f32, and the recipe's precision says what is kept and computed in which type";
  llvm::DenseSet<Location> told;
  for (Operation &op : model.getBody().front()) {
    if (llvm::any_of(op.getOperandTypes(), other))
      continue;
    for (Type type : op.getResultTypes())
      if (FloatType found = other(type)) {
        if (!isa<UnknownLoc>(writtenAt(&op)) && !told.insert(writtenAt(&op)).second)
          break;
        if (auto param = dyn_cast<ParamOp>(op))
          fault(param) << "parameter '" << param.getName() << "' is of " << found << rest;
        else
          fault(&op) << op.getName().stripDialect() << " makes values of " << found << rest;
        break;
      }
  }
}

struct VerifyModelPass : impl::VerifyModelPassBase<VerifyModelPass> {
  void runOnOperation() override {
    bool sound = true;
    for (auto model : getOperation().getOps<ModelOp>())
      sound &= ModelVerifier(model).run();
    if (!sound)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace hocket::nn
