// Slots and scalar arithmetic of the loss scale.
#include "passes/NN/LossScale.h"
#include "passes/NN/ScalarFunction.h"
#include "passes/NN/TrainingStep.h"
#include <limits>
using namespace mlir;

namespace hocket::nn {
namespace {
RankedTensorType scalarOf(Type element) { return RankedTensorType::get({}, element); }

struct ScaleState {
  StringRef name;
  double initial;
};
/// In the order in which the rule takes and gives them.
SmallVector<ScaleState> scaleStates(LossScaleOp scale) {
  SmallVector<ScaleState> states{{"loss_scale", scale.getInitial().convertToDouble()}};
  if (scale.isDynamic()) {
    states.push_back({"good_steps", 0});
    states.push_back({"hysteresis", static_cast<double>(scale.getHysteresisAttr().getInt())});
  }
  return states;
}

/// From scale, good steps, chances and overflow to their next values and `exhausted`.
SmallVector<Value> dynamicRule(const Scalars &s, ValueRange in, LossScaleOp op) {
  Type type = in[0].getType();
  auto number = [&](double value) { return s.constant(value, type); };
  Value scale = in[0], good = in[1], chances = in[2], zero = number(0), one = number(1);
  Value over = s.notEqual(in[3], zero), last = s.atMost(chances, one);
  double floor = op.getFloor()->convertToDouble();
  Value lowered = s.max(s.mul(scale, number(op.getBackoff()->convertToDouble())), number(floor));
  Value counted = s.add(good, one);
  Value grows = s.atMost(number(static_cast<double>(op.getIntervalAttr().getInt())), counted);
  Value raised =
      s.min(s.mul(scale, number(op.getGrowth()->convertToDouble())), number(std::numeric_limits<float>::max()));
  Value full = number(static_cast<double>(op.getHysteresisAttr().getInt()));
  return {s.select(over, s.select(last, lowered, scale), s.select(grows, raised, scale)),
          s.select(over, zero, s.select(grows, zero, counted)),
          s.select(over, s.select(last, chances, s.sub(chances, one)), s.select(grows, full, chances)),
          s.select(over, s.select(last, s.select(s.atMost(scale, number(floor)), one, zero), zero), zero)};
}
} // namespace

void declareLossScale(OpBuilder &builder, Location loc, RecipeOp recipe) {
  auto scale = recipe.entry<LossScaleOp>();
  auto f32 = scalarOf(builder.getF32Type()), i64 = scalarOf(builder.getI64Type());
  auto declare = [&](SlotKind kind, StringRef name, Type type, InitAttr init = {}) {
    SlotOp::create(builder, loc, kind, name, type, init, IntegerAttr(), Attribute(), Attribute());
  };
  for (const ScaleState &state : scaleStates(scale))
    declare(SlotKind::State, state.name, f32,
            InitAttr::get(builder.getContext(), InitKind::Constant, builder.getF64FloatAttr(state.initial)));
  declare(SlotKind::State, "updates", i64,
          InitAttr::get(builder.getContext(), InitKind::Zeros, builder.getF64FloatAttr(0)));
  declare(SlotKind::Value, "seed", f32);
  for (StringRef name : {"loss_scale", "skipped", "exhausted"})
    declare(SlotKind::Output, name, f32);
}

static Value readLossScale(OpBuilder &builder, Location loc) {
  return readSlot(builder, loc, SlotKind::State, "loss_scale", scalarOf(builder.getF32Type()), "");
}

void buildSeed(OpBuilder &builder, Location loc, RecipeOp recipe, Value inverse) {
  auto f32 = scalarOf(builder.getF32Type());
  Value seed = make<MulOp>(builder, recipe.entry<LossScaleOp>().getLoc(), f32, inverse, readLossScale(builder, loc));
  writeSlot(builder, loc, SlotKind::Value, "seed", seed, "");
}

ScaledUpdate buildScaledUpdate(OpBuilder &builder, RecipeOp recipe, Value norm) {
  auto op = recipe.entry<LossScaleOp>();
  Location loc = op.getLoc();
  auto f32 = scalarOf(builder.getF32Type()), i64 = scalarOf(builder.getI64Type());
  ScaledUpdate made;
  made.overflow = makeElementwise(builder, loc, "overflow", f32, norm, [](const Scalars &s, ValueRange in) {
    Type type = in[0].getType();
    Value infinity = s.constant(std::numeric_limits<double>::infinity(), type);
    return s.select(s.notBelow(in[0], infinity), s.constant(1, type), s.constant(0, type));
  });
  Value one = makeElementwise(builder, loc, "one", i64, {}, [](const Scalars &s, ValueRange) { return s.integer(1); });
  Value updates = readSlot(builder, loc, SlotKind::State, "updates", i64, "");
  made.number = make<AddOp>(builder, loc, i64, updates, one);
  Value applied = makeElementwise(builder, loc, "applied_updates", i64, {made.overflow, updates, made.number},
                                  [](const Scalars &s, ValueRange in) {
                                    return s.select(s.notEqual(in[0], s.constant(0, in[0].getType())), in[1], in[2]);
                                  });
  writeSlot(builder, loc, SlotKind::State, "updates", applied, "");
  made.scale = readLossScale(builder, loc);
  writeSlot(builder, loc, SlotKind::Output, "loss_scale", made.scale, "");
  writeSlot(builder, loc, SlotKind::Output, "skipped", made.overflow, "");
  if (!op.isDynamic()) {
    Value never = makeElementwise(builder, loc, "never", f32, {},
                                  [&](const Scalars &s, ValueRange) { return s.constant(0, builder.getF32Type()); });
    writeSlot(builder, loc, SlotKind::Output, "exhausted", never, "");
    return made;
  }
  SmallVector<Value> operands{made.scale};
  SmallVector<ScaleState> states = scaleStates(op);
  for (const ScaleState &state : ArrayRef(states).drop_front())
    operands.push_back(readSlot(builder, loc, SlotKind::State, state.name, f32, ""));
  operands.push_back(made.overflow);
  SmallVector<Type> types(operands.size(), f32); // the states and `exhausted`
  SmallVector<Value> next = makeElementwise(builder, loc, "loss_scale_rule", types, operands,
                                            [&](const Scalars &s, ValueRange in) { return dynamicRule(s, in, op); });
  for (auto [state, value] : llvm::zip(states, next))
    writeSlot(builder, loc, SlotKind::State, state.name, value, "");
  writeSlot(builder, loc, SlotKind::Output, "exhausted", next.back(), "");
  return made;
}
} // namespace hocket::nn
