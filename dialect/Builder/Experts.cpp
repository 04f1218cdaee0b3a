// Mixtures of experts: routers, and tokens on their way.
#include "dialect/Builder/State.h"
#include "dialect/NN/Router.h"

namespace hocket {
using namespace detail;
using mlir::RankedTensorType;

Tensor router_logits(Tensor x, Tensor w, Where where) {
  Use use(where, {x, w});
  if (!use.sound())
    return use.unknown();
  llvm::SmallVector<int64_t> shape(use.tensorType(x).getShape());
  if (!shape.empty() && use.tensorType(w).getRank() > 0)
    shape.back() = use.tensorType(w).getShape().back();
  return use.make<nn::RouterLogitsOp>(RankedTensorType::get(shape, use.builder.getF32Type()), Access::value(x),
                                      Access::value(w));
}

Route router(Tensor logits, Tensor positions, const Router &options, Where where) {
  Use use(where, {logits, positions});
  Route unknown{use.unknown(), use.unknown(), use.unknown(), use.unknown()};
  if (!use.sound())
    return unknown;
  RankedTensorType type = use.tensorType(logits);
  if (type.getRank() != 3) {
    use.fault() << "router of " << type << ", expected logits [b, s, e]";
    return unknown;
  }
  if (!(options.capacity > 0) || options.top < 1) {
    use.fault() << "router with top " << options.top << " and capacity " << nn::realText(options.capacity)
                << ", expected both to be given, and above 0";
    return unknown;
  }
  mlir::Builder &builder = use.builder;
  int64_t batch = type.getDimSize(0), tokens = type.getDimSize(1), experts = type.getDimSize(2);
  int64_t capacity = nn::expertCapacity(options.top, tokens, options.capacity, experts);
  auto choices = [&](mlir::Type element) { return RankedTensorType::get({batch, tokens, options.top}, element); };
  auto scores = options.scores == Scores::sigmoid ? nn::ScoreKind::Sigmoid : nn::ScoreKind::Softmax;
  auto op = nn::make<nn::RouterOp>(use.builder, use.loc, choices(builder.getF32Type()), choices(builder.getI32Type()),
                                   RankedTensorType::get({batch, experts, capacity}, builder.getI32Type()),
                                   RankedTensorType::get({batch}, builder.getF32Type()), Access::value(logits),
                                   Access::value(positions), builder.getI64IntegerAttr(options.top),
                                   nn::ScoreKindAttr::get(builder.getContext(), scores),
                                   options.normalized ? builder.getUnitAttr() : mlir::UnitAttr(),
                                   builder.getF64FloatAttr(options.scale), builder.getF64FloatAttr(0));
  return {use.tensor(op.getWeights()), use.tensor(op.getSlots()), use.tensor(op.getTokens()), use.tensor(op.getLoad())};
}

Tensor dispatch(Tensor x, const Route &route, Where where) {
  Use use(where, {x, route.slots, route.tokens});
  if (!use.sound())
    return use.unknown();
  RankedTensorType type = use.tensorType(x), tokens = use.tensorType(route.tokens);
  if (type.getRank() != 3) {
    use.fault() << "dispatch of " << type << ", expected x [b, s, h]";
    return use.unknown();
  }
  auto routed = RankedTensorType::get(
      {tokens.getDimSize(1), type.getDimSize(0), tokens.getDimSize(2), type.getDimSize(2)}, type.getElementType());
  return use.make<nn::DispatchOp>(routed, Access::value(x), Access::value(route.slots), Access::value(route.tokens),
                                  mlir::Value());
}

Tensor combine(Tensor x, const Route &route, Where where) {
  Use use(where, {x, route.slots, route.tokens, route.weights});
  if (!use.sound())
    return use.unknown();
  RankedTensorType type = use.tensorType(x), slots = use.tensorType(route.slots);
  if (type.getRank() != 4) {
    use.fault() << "combine of " << type << ", expected x [e, b, c, h]";
    return use.unknown();
  }
  auto whole =
      RankedTensorType::get({type.getDimSize(1), slots.getDimSize(1), type.getDimSize(3)}, type.getElementType());
  return use.make<nn::CombineOp>(whole, Access::value(x), Access::value(route.slots), Access::value(route.tokens),
                                 Access::value(route.weights));
}
} // namespace hocket
