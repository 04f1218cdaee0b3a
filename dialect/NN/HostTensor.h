// A small dense tensor on the host, the currency of reference semantics. Integers are held exactly as doubles (< 2^53).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace hocket::nn {
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;

  HostTensor() = default;
  explicit HostTensor(llvm::ArrayRef<int64_t> shape, double fill = 0);
  int64_t size() const { return static_cast<int64_t>(data.size()); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// Product of the dimensions from `first` up to (not with) `last`.
  int64_t extent(int64_t first, int64_t last) const;
  double &operator[](int64_t i) { return data[i]; }
  double operator[](int64_t i) const { return data[i]; }
};
} // namespace hocket::nn
