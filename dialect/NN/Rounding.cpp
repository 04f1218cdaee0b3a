// See Rounding.h.
#include "dialect/NN/Rounding.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
using namespace mlir;

namespace hocket::nn {
namespace {
/// A binary format: significant bits, the exponent of its least normal number, its greatest number.
struct Format {
  int bits, leastExponent;
  double greatest;
};
constexpr Format bfloat{8, -126, 0x1.fep127}, half{11, -14, 65504};

double nearest(const Format &format, double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), format.leastExponent);
  // quotient and product are exact: the spacing is a power of two
  double spacing = std::ldexp(1.0, exponent - (format.bits - 1));
  double rounded = std::nearbyint(value / spacing) * spacing;
  return std::fabs(rounded) > format.greatest ? std::copysign(INFINITY, value) : rounded;
}
} // namespace

double roundedTo(Type element, double value) {
  if (element.isF32())
    return static_cast<float>(value);
  if (element.isBF16())
    return nearest(bfloat, value);
  return element.isF16() ? nearest(half, value) : value;
}

void roundTo(Type type, HostTensor &tensor) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element) && !element.isF64())
    for (double &value : tensor.data)
      value = roundedTo(element, value);
}
} // namespace hocket::nn
