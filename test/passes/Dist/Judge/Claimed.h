// What changes of partitioned programs are made of: claims, axes, and ops put in place with their claims.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::testing {
using namespace mlir;
using namespace hocket::dist;

inline ShardAttr claimOf(OpResult result) { return dyn_cast_or_null<ShardAttr>(nn::getSharding(result)); }
inline MeshOp meshOf(Operation *op) { return *op->getParentOfType<ModuleOp>().getOps<MeshOp>().begin(); }
inline StringAttr cause(Operation *op) { return StringAttr::get(op->getContext(), "a test"); }
inline IntegerAttr number(Operation *op, int64_t value) { return OpBuilder(op).getI64IntegerAttr(value); }

inline AxisRef axis(Operation *op, StringRef name, int64_t pre = 1, int64_t size = 0) {
  return {StringAttr::get(op->getContext(), name), pre, size};
}
inline AxesAttr axesAttr(Operation *op, ArrayRef<AxisRef> refs) { return AxesAttr::get(op->getContext(), refs); }

inline void claim(Operation *made, ArrayRef<ShardingAttr> shardings, RankedTensorType global) {
  SmallVector<Attribute> all;
  for (ShardingAttr sharding : shardings)
    all.push_back(ShardAttr::get(made->getContext(), global, sharding));
  nn::setShardings(made, all);
}
inline RankedTensorType localOf(Operation *op, RankedTensorType global, ShardingAttr sharding) {
  return localType(meshOf(op), global, sharding);
}

/// An op made where `builder` stands, with the phase of `like` and one claimed result.
template <typename OpT, typename... Args>
Value insert(OpBuilder &builder, Operation *like, RankedTensorType global, ShardingAttr sharding, Args... args) {
  auto made = nn::make<OpT>(builder, like->getLoc(), localOf(like, global, sharding), args...);
  if (Attribute phase = like->getAttr("phase"))
    made->setAttr("phase", phase);
  claim(made, {sharding}, global);
  return made->getResult(0);
}
inline Value insertJoin(OpBuilder &builder, Operation *like, RankedTensorType global, ShardingAttr sharding, Value x,
                        ReductionAttr reduction, AxesAttr axes) {
  return insert<AllReduceOp>(builder, like, global, sharding, ValueRange(x), reduction, axes, DenseI64ArrayAttr(),
                             cause(like));
}

inline bool uses(ShardingAttr sharding, const AxisRef &ref) {
  auto named = [&](const AxisRef &other) { return other.name == ref.name; };
  return llvm::any_of(sharding.getPartial(), named) ||
         llvm::any_of(sharding.getDims(), [&](const DimSharding &dim) { return llvm::any_of(dim.axes, named); });
}
inline SmallVector<Operation *> usersInOrder(Operation *op) {
  SmallVector<Operation *> users(op->getUsers());
  llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return users;
}
/// `sharding` with `dim` further split over `axes`.
inline ShardingAttr splitFurther(ShardingAttr sharding, int64_t dim, ArrayRef<AxisRef> axes) {
  SmallVector<AxisRef> all(sharding.getDims()[dim].axes);
  all.append(axes.begin(), axes.end());
  return sharding.withDim(dim, all);
}
/// `sharding` with the last `count` axes of `dim` gathered.
inline ShardingAttr gathered(ShardingAttr sharding, int64_t dim, size_t count) {
  return sharding.withDim(dim, ArrayRef(sharding.getDims()[dim].axes).drop_back(count));
}
inline bool divides(Operation *op, RankedTensorType global, int64_t dim, ShardingAttr sharding) {
  return !isUneven(meshOf(op), global.getDimSize(static_cast<unsigned>(dim)), sharding.getDims()[dim].axes);
}
} // namespace hocket::testing
