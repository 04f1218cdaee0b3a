// Makes update and evaluate of the training step: norm, clip, learning rate, optimizer, and what is reported.
#include "passes/NN/LayerPaths.h"
#include "passes/NN/ScalarFunction.h"
#include "passes/NN/TrainingStep.h"
using namespace mlir;

namespace hocket::nn {
namespace {
class UpdateBuilder {
public:
  UpdateBuilder(TrainingStepOp step, RecipeOp recipe, MutableArrayRef<StepParameter> params)
      : recipe(recipe), builder(step.getContext()), loc(recipe.getLoc()) {
    for (StepParameter &param : params)
      if (!param.settings.frozen)
        trained.push_back(&param);
    builder.setInsertionPointToStart(&step.getUpdate().front());
  }
  void build();

private:
  Value sumGradient(StepParameter &param);
  SmallVector<Value> exchange(ArrayRef<Value> gradients);
  Value clipScale(Value norm);
  void optimize(StepParameter &param, Value gradient, Value rate, Value scale, Value stepNumber);

  RecipeOp recipe;
  OpBuilder builder;
  Location loc;
  SmallVector<StepParameter *> trained;
  RankedTensorType f32 = RankedTensorType::get({}, builder.getF32Type());
  RankedTensorType i64 = RankedTensorType::get({}, builder.getI64Type());
};

Value UpdateBuilder::sumGradient(StepParameter &param) {
  Value sum;
  StringRef path = parameterGroup(param.name());
  for (const std::string &name : param.accumulators) {
    Location at = param.param.getLoc();
    Value part = readSlot(builder, at, SlotKind::Accumulator, name, param.type(), path);
    sum = sum ? Value(make<AddOp>(builder, at, param.type(), sum, part)) : part;
    setPath(sum.getDefiningOp(), path);
  }
  return sum;
}

/// The loss sum and every parameter's square sum, after they stood in one vector.
SmallVector<Value> UpdateBuilder::exchange(ArrayRef<Value> gradients) {
  SmallVector<Value> parts{readSlot(builder, loc, SlotKind::Accumulator, "loss", f32, "")};
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

Value UpdateBuilder::clipScale(Value norm) {
  auto clip = recipe.entry<ClipOp>();
  return makeElementwise(builder, loc, "clip_scale", f32, norm, [&](const Scalars &s, ValueRange in) {
    Type type = in[0].getType();
    Value one = s.constant(1, type);
    if (!clip)
      return one;
    Value bound = s.constant(clip.getNorm().convertToDouble(), type);
    return s.min(one, s.div(bound, s.add(in[0], s.constant(1e-6, type))));
  });
}

void UpdateBuilder::optimize(StepParameter &param, Value gradient, Value rate, Value scale, Value stepNumber) {
  auto optimizer = recipe.entry<OptimizerOp>();
  Location at = param.param.getLoc();
  StringRef path = parameterGroup(param.name());
  RankedTensorType type = param.type();
  constexpr SlotKind kinds[] = {SlotKind::Param, SlotKind::FirstMoment, SlotKind::SecondMoment};
  SmallVector<Value> state;
  for (SlotKind kind : kinds)
    state.push_back(readSlot(builder, at, kind, param.name(), type, path));
  auto adamw = make<AdamWOp>(builder, at, type, type, type, state[0], gradient, state[1], state[2], rate, scale,
                             stepNumber, optimizer.getBetasAttr(), optimizer.getEpsAttr(),
                             builder.getF64FloatAttr(param.settings.weightDecay),
                             builder.getF64FloatAttr(param.settings.lrScale));
  setPath(adamw, path);
  for (auto [kind, result] : llvm::zip(kinds, adamw->getResults()))
    writeSlot(builder, at, kind, param.name(), result, path);
}

void UpdateBuilder::build() {
  SmallVector<Value> gradients;
  for (StepParameter *param : trained)
    gradients.push_back(sumGradient(*param));
  SmallVector<Value> parts = exchange(gradients);
  Value norm = makeElementwise(builder, loc, "grad_norm", f32, ArrayRef(parts).drop_front(),
                               [](const Scalars &s, ValueRange squares) {
                                 Value sum = squares.front();
                                 for (Value square : squares.drop_front())
                                   sum = s.add(sum, square);
                                 return s.sqrt(sum);
                               });
  Value scale = clipScale(norm);
  Value stepNumber = readSlot(builder, loc, SlotKind::Input, "step", i64, "");
  auto schedule = recipe.entry<LearningRateOp>();
  Value rate = make<CosineRateOp>(builder, loc, f32, stepNumber, schedule.getPeakAttr(), schedule.getWarmupAttr(),
                                  schedule.getDecayAttr(), schedule.getFloorAttr());
  for (auto [param, gradient] : llvm::zip(trained, gradients))
    optimize(*param, gradient, rate, scale, stepNumber);
  Value inverse = readSlot(builder, loc, SlotKind::Value, "inverse_count", f32, "");
  writeSlot(builder, loc, SlotKind::Output, "loss", make<MulOp>(builder, loc, f32, parts[0], inverse), "");
  writeSlot(builder, loc, SlotKind::Output, "grad_norm", norm, "");
  writeSlot(builder, loc, SlotKind::Output, "learning_rate", rate, "");
  writeSlot(builder, loc, SlotKind::Output, "tokens", readSlot(builder, loc, SlotKind::Value, "count", i64, ""), "");
}
} // namespace

void buildUpdate(TrainingStepOp step, RecipeOp recipe, MutableArrayRef<StepParameter> params) {
  UpdateBuilder(step, recipe, params).build();
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
