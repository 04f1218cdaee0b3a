// A small dense tensor on the host.
#include "dialect/NN/HostTensor.h"

namespace hocket::nn {
HostTensor::HostTensor(llvm::ArrayRef<int64_t> shape, double fill) : shape(shape.begin(), shape.end()) {
  data.assign(static_cast<size_t>(extent(0, rank())), fill);
}

int64_t HostTensor::extent(int64_t first, int64_t last) const {
  int64_t product = 1;
  for (int64_t dim = first; dim < last; ++dim)
    product *= shape[dim];
  return product;
}
} // namespace hocket::nn
