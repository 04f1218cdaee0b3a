// Rounding of reference numbers to an element type: to nearest, ties to even, subnormals kept, beyond the greatest
// number infinity; NaN and infinity stay.
#pragma once
#include "dialect/NN/HostTensor.h"
#include "mlir/IR/Types.h"

namespace hocket::nn {
/// The number of an f32, bf16 or f16 nearest to `value`; of other element types, `value` itself.
///   bf16: 257 -> 256, 1 + 2^-8 -> 1, 3.4e38 -> inf      f16: 2049 -> 2048, 65520 -> inf, 2^-25 -> 0
double roundedTo(mlir::Type element, double value);
/// All elements of a tensor; `type` is a tensor's or a scalar's.
void roundTo(mlir::Type type, HostTensor &tensor);
} // namespace hocket::nn
