// Entries of recipes.
#include "dialect/Builder/State.h"

namespace hocket {
using namespace detail;

static mlir::OpBuilder atEndOf(mlir::Operation *op) { return mlir::OpBuilder::atBlockEnd(&op->getRegion(0).front()); }
static mlir::Type elementType(mlir::Builder &builder, Element element) {
  switch (element) {
  case Element::f32:
    return builder.getF32Type();
  case Element::bf16:
    return builder.getBF16Type();
  case Element::f16:
    return builder.getF16Type();
  }
  return builder.getF32Type();
}

/// Writes one entry at the recipe's end.
template <typename OpT, typename... Args>
static void enter(State &state, mlir::Operation *recipe, const Where &where, Args &&...args) {
  mlir::OpBuilder builder = atEndOf(recipe);
  OpT::create(builder, state.at(where), std::forward<Args>(args)...);
}

Recipe &Recipe::batch(int64_t sequences, Where where) {
  enter<nn::BatchOp>(*state, Access::op(*this), where, static_cast<uint64_t>(sequences));
  return *this;
}

Recipe &Recipe::precision(const Precision &types, Where where) {
  mlir::Builder builder(&state->context);
  auto optional = [&](const std::optional<Element> &element) {
    return element ? mlir::TypeAttr::get(elementType(builder, *element)) : mlir::TypeAttr();
  };
  enter<nn::PrecisionOp>(*state, Access::op(*this), where, elementType(builder, types.params),
                         elementType(builder, types.compute), elementType(builder, types.accumulate),
                         optional(types.reduce), optional(types.master));
  return *this;
}

Recipe &Recipe::optimizer(const AdamW &adamw, Where where) {
  mlir::Builder builder(&state->context);
  enter<nn::OptimizerOp>(*state, Access::op(*this), where, builder.getDenseF64ArrayAttr(adamw.betas),
                         builder.getF64FloatAttr(adamw.eps), builder.getF64FloatAttr(adamw.weight_decay));
  return *this;
}

static void enterRate(State &state, mlir::Operation *recipe, const Where &where, double peak, int64_t warmup,
                      std::optional<int64_t> decay, double floor) {
  mlir::Builder builder(&state.context);
  enter<nn::LearningRateOp>(state, recipe, where, builder.getF64FloatAttr(peak), builder.getI64IntegerAttr(warmup),
                            decay ? builder.getI64IntegerAttr(*decay) : mlir::IntegerAttr(),
                            builder.getF64FloatAttr(floor));
}
Recipe &Recipe::learning_rate(const Cosine &cosine, Where where) {
  enterRate(*state, Access::op(*this), where, cosine.peak, cosine.warmup, cosine.decay, cosine.floor);
  return *this;
}
Recipe &Recipe::learning_rate(const Constant &rate, Where where) {
  enterRate(*state, Access::op(*this), where, rate.peak, rate.warmup, std::nullopt, 0);
  return *this;
}

Recipe &Recipe::clip(double norm, Where where) {
  enter<nn::ClipOp>(*state, Access::op(*this), where, mlir::Builder(&state->context).getF64FloatAttr(norm));
  return *this;
}

Recipe &Recipe::loss_scale(const DynamicScale &scale, Where where) {
  mlir::Builder builder(&state->context);
  enter<nn::LossScaleOp>(*state, Access::op(*this), where, builder.getF64FloatAttr(scale.initial),
                         builder.getF64FloatAttr(scale.growth), builder.getF64FloatAttr(scale.backoff),
                         builder.getI64IntegerAttr(scale.interval), builder.getI64IntegerAttr(scale.hysteresis),
                         builder.getF64FloatAttr(scale.floor));
  return *this;
}
Recipe &Recipe::loss_scale(const StaticScale &scale, Where where) {
  enter<nn::LossScaleOp>(*state, Access::op(*this), where, mlir::Builder(&state->context).getF64FloatAttr(scale.scale),
                         mlir::FloatAttr(), mlir::FloatAttr(), mlir::IntegerAttr(), mlir::IntegerAttr(),
                         mlir::FloatAttr());
  return *this;
}

Recipe &Recipe::capacity(double factor, Where where) {
  enter<nn::CapacityOp>(*state, Access::op(*this), where, mlir::Builder(&state->context).getF64FloatAttr(factor));
  return *this;
}
Recipe &Recipe::auxiliary_loss(double coefficient, Where where) {
  enter<nn::AuxiliaryLossOp>(*state, Access::op(*this), where,
                             mlir::Builder(&state->context).getF64FloatAttr(coefficient));
  return *this;
}

Recipe &Recipe::seed(int64_t seed, Where where) {
  enter<nn::SeedOp>(*state, Access::op(*this), where, static_cast<uint64_t>(seed));
  return *this;
}

Recipe &Recipe::group(std::string_view pattern, const Group &settings, Where where) {
  mlir::Builder builder(&state->context);
  auto real = [&](const std::optional<double> &value) {
    return value ? builder.getF64FloatAttr(*value) : mlir::FloatAttr();
  };
  enter<nn::GroupOp>(*state, Access::op(*this), where, builder.getStringAttr(pattern), real(settings.lr_scale),
                     real(settings.weight_decay), settings.frozen ? builder.getUnitAttr() : mlir::UnitAttr());
  return *this;
}
} // namespace hocket
