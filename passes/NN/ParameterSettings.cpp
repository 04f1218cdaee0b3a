// Reads a recipe's groups for one parameter.
#include "passes/NN/ParameterSettings.h"
using namespace mlir;

namespace hocket::nn {

/// A value under another local type: not of the mathematics, but it has a derivative.
static bool isRenamed(Operation *op) {
  return isa<DifferentiableOpInterface>(op) && !isa<FactorOpInterface>(op) && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

static bool usedAsMatrix(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<UnstackOp, StackOp>(user)) {
      if (llvm::any_of(user->getResults(), usedAsMatrix))
        return true;
    } else if (isa<RetypedOpInterface>(user)) { // a region of ranks: what its argument is used for
      if (usedAsMatrix(user->getRegion(0).getArgument(use.getOperandNumber())))
        return true;
    } else if (isRenamed(user)) {
      if (usedAsMatrix(user->getResult(0)))
        return true;
    } else if (isa<MatmulOp>(user) ||
               (isa<LinearOp, RouterLogitsOp, EmbeddingOp>(user) && use.getOperandNumber() == 1)) {
      return true;
    }
  }
  return false;
}

bool isMatrix(ParamOp param) { return usedAsMatrix(param.getValue()); }

static SmallVector<GroupOp> groupsOf(RecipeOp recipe, StringRef name) {
  SmallVector<GroupOp> groups;
  for (auto group : recipe.getBody().getOps<GroupOp>())
    if (matchesName(group.getPattern(), name))
      groups.push_back(group);
  return groups;
}

ParameterSettings settingsOf(RecipeOp recipe, ParamOp param) {
  ParameterSettings settings;
  if (auto optimizer = recipe.entry<OptimizerOp>(); optimizer && isMatrix(param))
    settings.weightDecay = optimizer.getWeightDecay().convertToDouble();
  SmallVector<GroupOp> groups = groupsOf(recipe, param.getName());
  for (GroupOp group : llvm::reverse(groups)) {
    if (auto scale = group.getLrScale())
      settings.lrScale = scale->convertToDouble();
    if (auto decay = group.getWeightDecay())
      settings.weightDecay = decay->convertToDouble();
    settings.frozen |= group.getFrozen();
  }
  return settings;
}

/// Reports the first parameter on which two groups set the same thing; `sets` says whether a group sets it.
static LogicalResult verifySetOnce(StringRef what, RecipeOp recipe, ArrayRef<ParamOp> params,
                                   llvm::function_ref<bool(GroupOp)> sets) {
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
  for (ParamOp param : params) {
    GroupOp first;
    for (GroupOp group : groupsOf(recipe, param.getName())) {
      if (!sets(group))
        continue;
      if (first && reported.insert({first, group}).second) {
        InFlightDiagnostic diagnostic = group.emitError()
                                        << "group '" << group.getPattern() << "' sets " << what << " of '"
                                        << param.getName() << "', which another group has set";
        diagnostic.attachNote(first.getLoc()) << "set here, by group '" << first.getPattern() << "'";
      }
      if (!first)
        first = group;
    }
  }
  return success(reported.empty());
}

LogicalResult verifyGroups(RecipeOp recipe, ArrayRef<ParamOp> params) {
  bool sound = true;
  SmallVector<StringRef> names = llvm::map_to_vector(params, [](ParamOp param) { return param.getName(); });
  for (auto group : recipe.getBody().getOps<GroupOp>()) {
    if (llvm::any_of(names, [&](StringRef name) { return matchesName(group.getPattern(), name); }))
      continue;
    sound = false;
    InFlightDiagnostic diagnostic = group.emitError() << "group '" << group.getPattern() << "' fits no parameter of @"
                                                      << recipe.getModel();
    if (StringRef near = nearestName(group.getPattern(), names); !near.empty())
      diagnostic << "; the nearest name is '" << near << "'";
  }
  sound &=
      succeeded(verifySetOnce("the learning rate", recipe, params, [](GroupOp g) { return bool(g.getLrScaleAttr()); }));
  sound &= succeeded(
      verifySetOnce("the weight decay", recipe, params, [](GroupOp g) { return bool(g.getWeightDecayAttr()); }));
  return success(sound);
}

llvm::DenseSet<Value> valuesOnLossPath(ModelOp model) {
  llvm::DenseSet<Value> reached;
  Block &body = model.getBody().front();
  if (body.getTerminator()->getNumOperands())
    reached.insert(body.getTerminator()->getOperand(0));
  for (Operation &op : llvm::reverse(body))
    if (isa<DifferentiableOpInterface>(op) &&
        llvm::any_of(op.getResults(), [&](Value v) { return reached.contains(v); }))
      reached.insert(op.operand_begin(), op.operand_end());
  return reached;
}
} // namespace hocket::nn
