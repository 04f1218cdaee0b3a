// Makes slots, begin and microbatch of the training step.
#include "passes/NN/TrainingStep.h"
#include "mlir/IR/IRMapping.h"
#include "passes/NN/Autodiff.h"
#include "passes/NN/LayerPaths.h"
#include "passes/NN/LossScale.h"
#include "passes/NN/ScalarFunction.h"
using namespace mlir;

namespace hocket::nn {

Value readSlot(OpBuilder &builder, Location loc, SlotKind kind, StringRef name, RankedTensorType type, StringRef path) {
  auto read = make<ReadOp>(builder, loc, type, kind, name);
  setPath(read, path);
  return read.getValue();
}

void writeSlot(OpBuilder &builder, Location loc, SlotKind kind, StringRef name, Value value, StringRef path) {
  setPath(make<WriteOp>(builder, loc, kind, name, value), path);
}

namespace {
class StepBuilder {
public:
  StepBuilder(ModelOp model, RecipeOp recipe, TrainingStepShape shape)
      : model(model), recipe(recipe), precision(recipe), shape(shape), builder(model.getContext()) {}
  FailureOr<TrainingStepOp> build(StringRef name, FlatSymbolRefAttr plan);

private:
  LogicalResult check();
  void createStep(StringRef name, FlatSymbolRefAttr plan);
  void buildBegin();
  void castParameters();
  void buildForward();
  void cloneForward(Operation &op, IRMapping &map);
  void fixMask(DropoutOp dropout);
  void balance(RouterOp router);
  SmallVector<Value> operandsOf(Operation &op, IRMapping &map);
  FloatType unifyFloats(Operation &op, MutableArrayRef<Value> operands);
  Value readOperand(OpOperand &operand, StringRef path);
  LogicalResult buildBackward();
  LogicalResult checkGradients();
  void declareSlots();

  RankedTensorType fixed(Type type);
  std::string argumentName(BlockArgument arg);
  BlockArgument labels();

  /// A use of a parameter in the forward: the value read for it, and whether a gradient came back.
  struct Use {
    StepParameter *param;
    int64_t index;
    bool reached = false;
  };
  std::string accumulatorName(const Use &use) {
    return use.param->uses > 1 ? (use.param->name() + "#" + Twine(use.index)).str() : use.param->name().str();
  }

  ModelOp model;
  RecipeOp recipe;
  Precision precision;
  TrainingStepShape shape;
  OpBuilder builder;
  TrainingStepOp step;
  std::vector<StepParameter> params;
  DenseMap<Operation *, StepParameter *> paramOf;
  llvm::MapVector<Value, Use> uses;  ///< by the value read
  llvm::StringMap<int64_t> dropouts; ///< by path, how many there are so far
  llvm::DenseSet<Value> lossLike;    ///< loss sums and what is made of them: f32 whatever is computed in
  Value lossSum;
  SmallVector<RouterLoad> loads; ///< in the order of the routers
};

RankedTensorType StepBuilder::fixed(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> dims(tensor.getShape());
  llvm::replace(dims, ShapedType::kDynamic, shape.rows);
  return RankedTensorType::get(dims, tensor.getElementType());
}

std::string StepBuilder::argumentName(BlockArgument arg) {
  if (std::optional<ArrayAttr> names = model.getArgNames())
    return cast<StringAttr>((*names)[arg.getArgNumber()]).getValue().ltrim('%').str();
  return ("arg" + Twine(arg.getArgNumber())).str();
}

BlockArgument StepBuilder::labels() {
  Operation *counter = model.getBody().front().getTerminator()->getOperand(1).getDefiningOp();
  if (auto loss = dyn_cast_if_present<CrossEntropyOp>(counter))
    return dyn_cast<BlockArgument>(loss.getLabels());
  if (auto count = dyn_cast_if_present<CountTokensOp>(counter))
    return dyn_cast<BlockArgument>(count.getLabels());
  return {};
}

LogicalResult StepBuilder::check() {
  bool sound = true;
  auto batch = recipe.entry<BatchOp>();
  if (static_cast<int64_t>(batch.getSequences()) != shape.rows * shape.microbatches) {
    batch.emitError() << "batch " << batch.getSequences() << " is not " << shape.microbatches << " microbatches of "
                      << shape.rows << " sequences = " << shape.rows * shape.microbatches;
    sound = false;
  }
  for (BlockArgument arg : model.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (type && type.getRank() && !type.isDynamicDim(0) && type.getDimSize(0) != shape.rows) {
      model.emitError() << "argument '" << argumentName(arg) << "' of @" << model.getSymName() << " holds "
                        << type.getDimSize(0) << " sequences, a microbatch has " << shape.rows
                        << "; write ? for the batch";
      sound = false;
    }
  }
  for (BlockArgument arg : model.getBody().getArguments())
    if (std::string name = argumentName(arg); name == "draws" || name == "step") {
      model.emitError() << "an argument of @" << model.getSymName() << " is named '" << name
                        << "', which the training step needs for an input of its own";
      sound = false;
    }
  if (!labels()) {
    model.emitError() << "the labels of @" << model.getSymName()
                      << " are not an argument; their tokens cannot be counted";
    sound = false;
  }
  return success(sound);
}

void StepBuilder::createStep(StringRef name, FlatSymbolRefAttr plan) {
  builder.setInsertionPointAfter(recipe);
  step = TrainingStepOp::create(
      builder, recipe.getLoc(), builder.getStringAttr(name), FlatSymbolRefAttr::get(model.getSymNameAttr()),
      FlatSymbolRefAttr::get(recipe.getSymNameAttr()), plan, builder.getI64IntegerAttr(shape.microbatches));
  for (Region &region : step->getRegions())
    region.emplaceBlock();
}

void StepBuilder::buildBegin() {
  builder.setInsertionPointToStart(&step.getBegin().front());
  Location loc = model.getBody().front().getTerminator()->getOperand(1).getLoc();
  RankedTensorType one = fixed(labels().getType());
  SmallVector<int64_t> dims{shape.microbatches};
  llvm::append_range(dims, one.getShape());
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  auto i64 = RankedTensorType::get({}, builder.getI64Type());
  Value all = readSlot(builder, loc, SlotKind::Input, argumentName(labels()) + ".all",
                       RankedTensorType::get(dims, one.getElementType()), "");
  Value count = make<CountTokensOp>(builder, loc, i64, all);
  // A step without a counted token has loss 0 and gradient 0, not NaN.
  Value inverse = makeElementwise(builder, loc, "inverse_count", f32, count, [](const Scalars &s, ValueRange in) {
    Type type = s.builder.getF32Type();
    Value one = s.constant(1, type);
    return s.div(one, s.max(s.toFloat(in[0], type), one));
  });
  writeSlot(builder, loc, SlotKind::Value, "inverse_count", inverse, "");
  writeSlot(builder, loc, SlotKind::Value, "count", count, "");
  if (recipe.entry<LossScaleOp>())
    buildSeed(builder, loc, recipe, inverse);
  castParameters();
}

void StepBuilder::castParameters() {
  for (StepParameter &param : params) {
    if (!precision.castsInBegin(param.type(precision.params)) || param.param.getValue().use_empty())
      continue;
    Location loc = param.param.getLoc();
    StringRef path = parameterGroup(param.name());
    Value stored = readSlot(builder, loc, SlotKind::Param, param.name(), param.type(precision.params), path);
    writeSlot(builder, loc, SlotKind::Value, param.name(), castTo(builder, loc, stored, precision.compute, path), path);
  }
}

/// What an op reads, for one use of a parameter or of an argument of the model; null for what other ops made.
Value StepBuilder::readOperand(OpOperand &operand, StringRef path) {
  Location loc = operand.getOwner()->getLoc();
  if (auto arg = dyn_cast<BlockArgument>(operand.get()))
    return readSlot(builder, loc, SlotKind::Input, argumentName(arg), fixed(arg.getType()), path);
  auto found = paramOf.find(operand.get().getDefiningOp());
  if (found == paramOf.end())
    return {};
  StepParameter &param = *found->second;
  bool isCast = precision.castsInBegin(param.type(precision.params));
  Value value = readSlot(builder, loc, isCast ? SlotKind::Value : SlotKind::Param, param.name(),
                         param.type(isCast ? precision.compute : precision.params), path);
  if (!param.settings.frozen)
    uses.insert({value, Use{&param, param.uses}});
  ++param.uses;
  return value;
}

/// The type of the log-sum-exp that an op keeps for its derivative; null for ops that keep nothing (more).
static RankedTensorType keptType(Operation &op) {
  RankedTensorType like;
  if (auto attention = dyn_cast<AttentionOp>(op); attention && !attention.getLse())
    like = attention.getQ().getType();
  if (auto loss = dyn_cast<CrossEntropyOp>(op); loss && !loss.getLse())
    like = loss.getLogits().getType();
  return like ? RankedTensorType::get(like.getShape().drop_back(), Float32Type::get(op.getContext())) : like;
}

SmallVector<Value> StepBuilder::operandsOf(Operation &op, IRMapping &map) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op.getOpOperands()) {
    Value read = readOperand(operand, getPath(&op));
    operands.push_back(read ? read : map.lookup(operand.get()));
  }
  return operands;
}

/// Casts float operands to one type, which is returned: f32 where one of them comes of a loss sum and in routers, else
/// what is computed in. Constants are f32 until they are used. Without float operands: f32. Weights of experts stay
/// f32.
FloatType StepBuilder::unifyFloats(Operation &op, MutableArrayRef<Value> operands) {
  bool floats = false, loss = false;
  for (Value operand : operands) {
    floats |= isa<FloatType>(cast<RankedTensorType>(operand.getType()).getElementType());
    loss |= lossLike.contains(operand);
  }
  bool routes = isa<RouterLogitsOp, RouterOp>(op);
  FloatType element = floats && !loss && !routes ? precision.compute : precision.f32;
  for (auto [index, operand] : llvm::enumerate(operands))
    if (bool isWeight = isa<DispatchOp, CombineOp>(op) && index == 3; !isWeight)
      operand = castTo(builder, op.getLoc(), operand, element, getPath(&op));
  return element;
}

void StepBuilder::cloneForward(Operation &op, IRMapping &map) {
  SmallVector<Value> operands = operandsOf(op, map);
  FloatType element = unifyFloats(op, operands);
  bool isLoss = isa<CrossEntropyOp>(op) || llvm::any_of(operands, [&](Value v) { return lossLike.contains(v); });
  SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), [&](Type type) -> Type {
    return Precision::with(fixed(type), isLoss ? precision.f32 : element);
  });
  if (RankedTensorType kept = keptType(op))
    types.push_back(fixed(kept));
  Operation *clone = Operation::create(op.getLoc(), op.getName(), types, operands, op.getDiscardableAttrDictionary(),
                                       op.getPropertiesStorage(), BlockRange(), op.getNumRegions());
  for (auto [from, to] : llvm::zip(op.getRegions(), clone->getRegions()))
    from.cloneInto(&to, map);
  if (auto retyped = dyn_cast<RetypedOpInterface>(clone))
    retyped.retype([&](RankedTensorType type) { return Precision::with(fixed(type), element); });
  builder.insert(clone);
  setPhase(clone, Phase::Forward);
  if (auto dropout = dyn_cast<DropoutOp>(clone))
    fixMask(dropout);
  for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults())) {
    map.map(from, to);
    if (isLoss)
      lossLike.insert(to);
  }
  if (auto router = dyn_cast<RouterOp>(clone))
    balance(router);
}

/// Adds the router's load to the loss: summed over sequences and carried in an accumulator of its own, since a slot is
/// written once, and by one stage.
void StepBuilder::balance(RouterOp router) {
  auto auxiliary = recipe.entry<AuxiliaryLossOp>();
  if (!auxiliary || auxiliary.getCoefficient().isZero())
    return;
  router.setBalanceAttr(auxiliary.getCoefficientAttr());
  StringRef path = getPath(router);
  Location loc = router.getLoc();
  std::string name = (path.empty() ? "load" : path + ".load").str();
  for (int64_t i = 1; llvm::any_of(loads, [&](RouterLoad &other) { return other.accumulator == name; }); ++i)
    name = (path.empty() ? "load" : path + ".load").str() + "." + std::to_string(i);
  auto type = RankedTensorType::get({}, precision.f32);
  Value sum = make<SumOp>(builder, loc, type, router.getLoad());
  setPath(sum.getDefiningOp(), path);
  loads.push_back({sum, name});
  Value all = readSlot(builder, loc, SlotKind::Accumulator, name, type, path);
  all = make<AddOp>(builder, loc, type, all, sum);
  setPath(all.getDefiningOp(), path);
  writeSlot(builder, loc, SlotKind::Accumulator, name, all, path);
}

/// Says what the mask of a dropout is a function of. Its stream is its path, with a number where the path has several:
/// a place in the model, which no plan changes.
void StepBuilder::fixMask(DropoutOp dropout) {
  StringRef path = getPath(dropout);
  int64_t index = dropouts[path]++;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(dropout);
  auto type = RankedTensorType::get(shape.rows, builder.getI32Type());
  dropout.getDrawsMutable().assign(readSlot(builder, dropout.getLoc(), SlotKind::Input, "draws", type, path));
  dropout.setStream(index ? (path + "#" + Twine(index)).str() : path.str());
  dropout.setExtents(dropout.getX().getType().getShape().drop_front(2));
}

void StepBuilder::buildForward() {
  builder.setInsertionPointToStart(&step.getMicrobatch().front());
  IRMapping map;
  for (Operation &op : model.getBody().front().without_terminator())
    if (!isa<ParamOp>(op))
      cloneForward(op, map);
  lossSum = map.lookup(model.getBody().front().getTerminator()->getOperand(0));
  Location loc = lossSum.getLoc();
  StringRef path = getPath(lossSum.getDefiningOp());
  auto type = cast<RankedTensorType>(lossSum.getType());
  Value sum = readSlot(builder, loc, SlotKind::Accumulator, "loss", type, path);
  sum = make<AddOp>(builder, loc, type, sum, lossSum);
  setPath(sum.getDefiningOp(), path);
  writeSlot(builder, loc, SlotKind::Accumulator, "loss", sum, path);
  for (Operation &op : step.getMicrobatch().front())
    setPhase(&op, Phase::Forward);
}

LogicalResult StepBuilder::buildBackward() {
  Block &body = step.getMicrobatch().front();
  SmallVector<Operation *> forward = llvm::map_to_vector(body, [](Operation &op) { return &op; });
  SmallVector<Value> leaves = llvm::map_to_vector(uses, [](auto &entry) { return entry.first; });
  auto accumulate = [&](Value leaf, Value gradient) {
    Use &use = uses.find(leaf)->second;
    use.reached = true;
    StringRef path = getPath(leaf.getDefiningOp());
    RankedTensorType type = use.param->type(precision.accumulate);
    std::string name = accumulatorName(use);
    gradient = castTo(builder, leaf.getLoc(), gradient, precision.accumulate, path);
    Value sum = readSlot(builder, leaf.getLoc(), SlotKind::Accumulator, name, type, path);
    sum = make<AddOp>(builder, leaf.getLoc(), type, sum, gradient);
    setPath(sum.getDefiningOp(), path);
    writeSlot(builder, leaf.getLoc(), SlotKind::Accumulator, name, sum, path);
  };
  ReverseMode autodiff(builder, leaves, accumulate);
  auto f32 = cast<RankedTensorType>(lossSum.getType());
  StringRef seed = recipe.entry<LossScaleOp>() ? "seed" : "inverse_count";
  autodiff.seed(lossSum,
                readSlot(builder, lossSum.getLoc(), SlotKind::Value, seed, f32, getPath(lossSum.getDefiningOp())));
  for (RouterLoad &load : loads)
    autodiff.seed(load.sum,
                  readSlot(builder, load.sum.getLoc(), SlotKind::Value, seed, f32, getPath(load.sum.getDefiningOp())));
  if (failed(autodiff.run(forward)))
    return failure();
  foldWideningCasts(body);
  return success();
}

LogicalResult StepBuilder::checkGradients() {
  for (auto &[value, use] : uses)
    if (use.reached)
      use.param->accumulators.push_back(accumulatorName(use));
  bool sound = true;
  for (StepParameter &param : params)
    if (!param.settings.frozen && param.accumulators.empty()) {
      param.param.emitError() << "no gradient reaches parameter '" << param.name()
                              << "'; freeze it by a group of the recipe";
      sound = false;
    }
  return success(sound);
}

void StepBuilder::declareSlots() {
  builder.setInsertionPointToStart(&step.getSlots().front());
  MLIRContext *context = builder.getContext();
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  auto i64 = RankedTensorType::get({}, builder.getI64Type());
  auto zeros = InitAttr::get(context, InitKind::Zeros, builder.getF64FloatAttr(0));
  auto declare = [&](Location loc, SlotKind kind, const Twine &name, Type type, InitAttr init = {}) {
    SlotOp::create(builder, loc, kind, name.str(), type, init, IntegerAttr(), Attribute(), Attribute());
  };
  Location loc = model.getLoc();
  for (BlockArgument arg : model.getBody().getArguments()) {
    RankedTensorType type = fixed(arg.getType());
    declare(loc, SlotKind::Input, argumentName(arg), type);
    if (arg == labels()) {
      SmallVector<int64_t> dims{shape.microbatches};
      llvm::append_range(dims, type.getShape());
      declare(loc, SlotKind::Input, argumentName(arg) + ".all", RankedTensorType::get(dims, type.getElementType()));
    }
  }
  declare(loc, SlotKind::Input, "step", i64);
  if (!dropouts.empty())
    declare(loc, SlotKind::Input, "draws", RankedTensorType::get(shape.rows, builder.getI32Type()));
  for (StepParameter &param : params) {
    Location at = param.param.getLoc();
    declare(at, SlotKind::Param, param.name(), param.type(precision.params), param.param.getInit());
    if (param.settings.frozen)
      continue;
    if (precision.masters)
      declare(at, SlotKind::Master, param.name(), param.type(precision.f32), param.param.getInit());
    declare(at, SlotKind::FirstMoment, param.name(), param.type(precision.f32), zeros);
    declare(at, SlotKind::SecondMoment, param.name(), param.type(precision.f32), zeros);
  }
  if (recipe.entry<LossScaleOp>())
    declareLossScale(builder, loc, recipe);
  for (StepParameter &param : params)
    for (const std::string &name : param.accumulators)
      declare(param.param.getLoc(), SlotKind::Accumulator, name, param.type(precision.accumulate));
  declare(loc, SlotKind::Accumulator, "loss", f32);
  for (RouterLoad &load : loads)
    declare(load.sum.getLoc(), SlotKind::Accumulator, load.accumulator, f32);
  for (StepParameter &param : params)
    if (precision.castsInBegin(param.type(precision.params)) && !param.param.getValue().use_empty())
      declare(param.param.getLoc(), SlotKind::Value, param.name(), param.type(precision.compute));
  declare(loc, SlotKind::Value, "inverse_count", f32);
  declare(loc, SlotKind::Value, "count", i64);
  for (StringRef name : {"loss", "grad_norm", "learning_rate", "loss_sum"})
    declare(loc, SlotKind::Output, name, f32);
  declare(loc, SlotKind::Output, "tokens", i64);
}

FailureOr<TrainingStepOp> StepBuilder::build(StringRef name, FlatSymbolRefAttr plan) {
  if (failed(check()))
    return failure();
  for (auto param : model.getBody().getOps<ParamOp>())
    params.push_back({param, settingsOf(recipe, param), 0, {}});
  for (StepParameter &param : params)
    paramOf[param.param] = &param;
  createStep(name, plan);
  buildBegin();
  buildForward();
  if (failed(buildBackward()) || failed(checkGradients())) {
    step->erase();
    return failure();
  }
  declareSlots();
  buildUpdate(step, recipe, params, loads);
  buildEvaluate(step);
  return step;
}
} // namespace

FailureOr<TrainingStepOp> buildTrainingStep(ModelOp model, RecipeOp recipe, FlatSymbolRefAttr plan, StringRef name,
                                            TrainingStepShape shape) {
  return StepBuilder(model, recipe, shape).build(name, plan);
}
} // namespace hocket::nn
