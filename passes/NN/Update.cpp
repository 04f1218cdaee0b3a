// Makes update and evaluate of the training step: norm, clip, learning rate, optimizer, and what is reported.
#include "passes/NN/LayerPaths.h"
#include "passes/NN/LossScale.h"
#include "passes/NN/ScalarFunction.h"
#include "passes/NN/TrainingStep.h"
using namespace mlir;

namespace hocket::nn {
namespace {
class UpdateBuilder {
public:
  UpdateBuilder(TrainingStepOp step, RecipeOp recipe, MutableArrayRef<StepParameter> params, ArrayRef<RouterLoad> loads)
      : recipe(recipe), precision(recipe), builder(step.getContext()), loc(recipe.getLoc()), loads(loads) {
    for (StepParameter &param : params)
      if (!param.settings.frozen)
        trained.push_back(&param);
    builder.setInsertionPointToStart(&step.getUpdate().front());
  }
  void build();

private:
  Value sumGradient(StepParameter &param);
  SmallVector<Value> exchange(ArrayRef<Value> gradients);
  Value normOf(ArrayRef<Value> squares);
  Value clipScale(Value norm);
  void optimize(StepParameter &param, Value gradient, Value rate, Value clip);

  RecipeOp recipe;
  Precision precision;
  OpBuilder builder;
  Location loc;
  ArrayRef<RouterLoad> loads;
  SmallVector<StepParameter *> trained;
  std::optional<ScaledUpdate> scaled; ///< with a loss scale
  Value stepNumber;
  RankedTensorType f32 = RankedTensorType::get({}, builder.getF32Type());
  RankedTensorType i64 = RankedTensorType::get({}, builder.getI64Type());
};

/// In f32, whatever it was accumulated and is reduced in.
Value UpdateBuilder::sumGradient(StepParameter &param) {
  Value sum;
  StringRef path = parameterGroup(param.name());
  Location at = param.param.getLoc();
  RankedTensorType type = param.type(precision.accumulate);
  for (const std::string &name : param.accumulators) {
    Value part = readSlot(builder, at, SlotKind::Accumulator, name, type, path);
    sum = sum ? Value(make<AddOp>(builder, at, type, sum, part)) : part;
    setPath(sum.getDefiningOp(), path);
  }
  sum = castTo(builder, at, sum, precision.reduce, path, /*summands=*/true);
  return castTo(builder, at, sum, precision.f32, path);
}

/// The loss sum, every router's load and every parameter's square sum, after they stood in one vector.
SmallVector<Value> UpdateBuilder::exchange(ArrayRef<Value> gradients) {
  SmallVector<Value> parts{readSlot(builder, loc, SlotKind::Accumulator, "loss", f32, "")};
  for (const RouterLoad &load : loads)
    parts.push_back(readSlot(builder, load.sum.getLoc(), SlotKind::Accumulator, load.accumulator, f32,
                             getPath(load.sum.getDefiningOp())));
  for (auto [param, gradient] : llvm::zip(trained, gradients)) {
    parts.push_back(make<SquareSumOp>(builder, param->param.getLoc(), f32, gradient));
    setPath(parts.back().getDefiningOp(), parameterGroup(param->name()));
  }
  auto vector = RankedTensorType::get({static_cast<int64_t>(parts.size())}, builder.getF32Type());
  Value all = make<StackOp>(builder, loc, vector, parts, builder.getI64IntegerAttr(0));
  SmallVector<Type> types(parts.size(), f32);
  auto parted = make<UnstackOp>(builder, loc, types, all, builder.getI64IntegerAttr(0));
  return SmallVector<Value>(parted->getResults());
}

/// Of the gradients without the loss scale. Infinite or no number where one of them is.
Value UpdateBuilder::normOf(ArrayRef<Value> squares) {
  Value norm = makeElementwise(builder, loc, "grad_norm", f32, squares, [](const Scalars &s, ValueRange squares) {
    Value sum = squares.front();
    for (Value square : squares.drop_front())
      sum = s.add(sum, square);
    return s.sqrt(sum);
  });
  if (!recipe.entry<LossScaleOp>())
    return norm;
  scaled = buildScaledUpdate(builder, recipe, norm);
  return makeElementwise(builder, loc, "unscaled_norm", f32, {norm, scaled->scale},
                         [](const Scalars &s, ValueRange in) { return s.div(in[0], in[1]); });
}

/// What gradients are multiplied by; it takes the loss scale off again.
Value UpdateBuilder::clipScale(Value norm) {
  auto clip = recipe.entry<ClipOp>();
  SmallVector<Value> operands{norm};
  if (scaled)
    operands.push_back(scaled->scale);
  return makeElementwise(builder, loc, "clip_scale", f32, operands, [&](const Scalars &s, ValueRange in) {
    Type type = in[0].getType();
    Value factor = s.constant(1, type);
    if (clip) {
      Value bound = s.constant(clip.getNorm().convertToDouble(), type);
      factor = s.min(factor, s.div(bound, s.add(in[0], s.constant(1e-6, type))));
    }
    return scaled ? s.div(factor, in[1]) : factor;
  });
}

void UpdateBuilder::optimize(StepParameter &param, Value gradient, Value rate, Value clip) {
  auto optimizer = recipe.entry<OptimizerOp>();
  Location at = param.param.getLoc();
  StringRef path = parameterGroup(param.name());
  RankedTensorType type = param.type(precision.f32);
  auto read = [&](SlotKind kind, RankedTensorType stored) {
    return readSlot(builder, at, kind, param.name(), stored, path);
  };
  auto write = [&](SlotKind kind, Value value) { writeSlot(builder, at, kind, param.name(), value, path); };
  Value old = precision.masters
                  ? read(SlotKind::Master, type)
                  : castTo(builder, at, read(SlotKind::Param, param.type(precision.params)), precision.f32, path);
  Value first = read(SlotKind::FirstMoment, type), second = read(SlotKind::SecondMoment, type);
  auto adamw = make<AdamWOp>(builder, at, type, type, type, old, gradient, first, second, rate, clip, stepNumber,
                             scaled ? scaled->overflow : Value(), optimizer.getBetasAttr(), optimizer.getEpsAttr(),
                             builder.getF64FloatAttr(param.settings.weightDecay),
                             builder.getF64FloatAttr(param.settings.lrScale));
  setPath(adamw, path);
  if (precision.masters)
    write(SlotKind::Master, adamw.getNewParam());
  write(SlotKind::Param, castTo(builder, at, adamw.getNewParam(), precision.params, path));
  write(SlotKind::FirstMoment, adamw.getNewM());
  write(SlotKind::SecondMoment, adamw.getNewV());
}

void UpdateBuilder::build() {
  SmallVector<Value> gradients;
  for (StepParameter *param : trained)
    gradients.push_back(sumGradient(*param));
  SmallVector<Value> parts = exchange(gradients);
  Value norm = normOf(ArrayRef(parts).drop_front(1 + loads.size()));
  Value clip = clipScale(norm);
  stepNumber = scaled ? scaled->number : readSlot(builder, loc, SlotKind::Input, "step", i64, "");
  auto schedule = recipe.entry<LearningRateOp>();
  Value rate = make<CosineRateOp>(builder, loc, f32, stepNumber, schedule.getPeakAttr(), schedule.getWarmupAttr(),
                                  schedule.getDecayAttr(), schedule.getFloorAttr());
  for (auto [param, gradient] : llvm::zip(trained, gradients))
    optimize(*param, gradient, rate, clip);
  Value inverse = readSlot(builder, loc, SlotKind::Value, "inverse_count", f32, "");
  Value lossSum = parts[0];
  if (!loads.empty())
    lossSum = makeElementwise(builder, loc, "loss_and_loads", f32, ArrayRef(parts).take_front(1 + loads.size()),
                              [](const Scalars &s, ValueRange in) {
                                Value sum = in.front();
                                for (Value load : in.drop_front())
                                  sum = s.add(sum, load);
                                return sum;
                              });
  writeSlot(builder, loc, SlotKind::Output, "loss", make<MulOp>(builder, loc, f32, lossSum, inverse), "");
  writeSlot(builder, loc, SlotKind::Output, "grad_norm", norm, "");
  writeSlot(builder, loc, SlotKind::Output, "learning_rate", rate, "");
  writeSlot(builder, loc, SlotKind::Output, "tokens", readSlot(builder, loc, SlotKind::Value, "count", i64, ""), "");
}
} // namespace

void buildUpdate(TrainingStepOp step, RecipeOp recipe, MutableArrayRef<StepParameter> params,
                 ArrayRef<RouterLoad> loads) {
  UpdateBuilder(step, recipe, params, loads).build();
}

void buildEvaluate(TrainingStepOp step) {
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getEvaluate().front());
  Location loc = step.getLoc();
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  auto i64 = RankedTensorType::get({}, builder.getI64Type());
  writeSlot(builder, loc, SlotKind::Output, "loss_sum", readSlot(builder, loc, SlotKind::Accumulator, "loss", f32, ""),
            "");
  writeSlot(builder, loc, SlotKind::Output, "tokens", readSlot(builder, loc, SlotKind::Value, "count", i64, ""), "");
}
} // namespace hocket::nn
