// Shapes of tensors, as users see them.
#include "dialect/Builder/State.h"

namespace hocket {
using detail::Access;

std::vector<int64_t> Tensor::shape() const {
  if (!known())
    return {};
  auto type = mlir::cast<mlir::RankedTensorType>(Access::value(*this).getType());
  std::vector<int64_t> sizes(type.getShape().begin(), type.getShape().end());
  for (int64_t &size : sizes)
    if (mlir::ShapedType::isDynamic(size))
      size = hocket::batch;
  return sizes;
}

int64_t Tensor::dim(int64_t index, Where where) const {
  if (!known())
    return 1;
  std::vector<int64_t> sizes = shape();
  int64_t rank = static_cast<int64_t>(sizes.size()), place = index < 0 ? index + rank : index;
  if (place >= 0 && place < rank)
    return sizes[place];
  auto diagnostic = home->state->fault(where)
                    << "asks for dimension " << index << " of " << Access::value(*this).getType() << ", expected ";
  if (rank == 0)
    diagnostic << "none: it has no dimensions";
  else
    diagnostic << -rank << " to " << rank - 1;
  return 1;
}
} // namespace hocket
