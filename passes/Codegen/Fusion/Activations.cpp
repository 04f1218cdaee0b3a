// See Activations.h.
#include "passes/Codegen/Fusion/Activations.h"
#include "dialect/NN/ScalarBody.h"
#include "mlir/IR/OperationSupport.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
Gate geluGate(double slope, double cubic) { return {2 * slope, 2 * slope * cubic}; }
constexpr Gate siluGate{1, 0};
} // namespace

/// sigmoid(z) (1 + (1 - sigmoid(z)) x z'), by e^-|z|, which never overflows.
double Gate::derivative(double x) const {
  double small = std::exp(-std::fabs(at(x))), whole = 1 + small, gate = x * slope(x);
  return x < 0 ? small * (whole + gate) / (whole * whole) : (whole + small * gate) / (whole * whole);
}

std::optional<Gate> gateOf(Operation *op) {
  if (isa<GeluOp>(op))
    return geluGate(geluSlope, geluCubic);
  return isa<SiluOp>(op) ? std::optional(siluGate) : std::nullopt;
}

/// Whether the body of `op`, of a gradient and a number, is what differentiation makes of OpT: made once more, it is
/// the same op by op.
template <typename OpT> static bool isGradientOf(ElementwiseOp op) {
  if (op.getXs().size() != 2 || op.getYs().size() != 1)
    return false;
  OpBuilder builder(op);
  auto forward = make<OpT>(builder, op.getLoc(), op.getXs()[1].getType(), op.getXs()[1]);
  SmallVector<Value> gradients(1);
  forward.buildGradient(builder, op.getXs()[0], llvm::BitVector(1, true), gradients);
  auto made = gradients[0] ? gradients[0].template getDefiningOp<ElementwiseOp>() : ElementwiseOp();
  bool same =
      made && llvm::equal(made.getXs(), op.getXs()) &&
      OperationEquivalence::isRegionEquivalentTo(&made.getBody(), &op.getBody(), OperationEquivalence::IgnoreLocations);
  if (made)
    made.erase();
  forward.erase();
  return same;
}

bool isGeluGradient(ElementwiseOp op) { return isGradientOf<GeluOp>(op); }

std::optional<Gate> gateOfGradient(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOp>(op);
  if (!elementwise)
    return std::nullopt;
  if (isGeluGradient(elementwise))
    return geluGate(static_cast<float>(geluSlope), static_cast<float>(geluCubic));
  return isGradientOf<SiluOp>(elementwise) ? std::optional(siluGate) : std::nullopt;
}
} // namespace hocket::codegen
