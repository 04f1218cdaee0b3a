// Rotary position embedding (Su et al. 2021, "RoFormer", section 3.2).
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;

static std::string ropeRule(RopeOp op) {
  std::string x = joinNames(leadingNames(tensorType(op.getX()).getRank() - 1), "!d");
  return x + ", b s -> " + x;
}

LogicalResult RopeOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}, {"y", getY()}})
      .element({"positions", getPositions()}, IntegerType::get(getContext(), 32));
  if (double theta = getTheta().convertToDouble(); !(theta > 0))
    check.fault() << "theta is " << realText(theta) << ", expected more than 0";
  if (getPositionScale() && !std::isfinite(getPositionScale()->convertToDouble()))
    check.fault() << "position_scale is " << realText(getPositionScale()->convertToDouble())
                  << ", expected a finite number";
  if (!check.rank({"x", getX()}, 3))
    return failure();
  check.fits(ropeRule(*this), "x, positions -> y");
  int64_t size = tensorType(getX()).getShape().back();
  if (getDims()) {
    int64_t dims = getDimsAttr().getInt();
    if (dims < 2 || dims > size || dims % 2 != 0)
      check.fault() << "dims is " << dims << ", expected an even number from 2 to " << size
                    << " (the last dimension of x)";
  } else if (size % 2 != 0) {
    check.fault() << "the last dimension of x is " << size << ", expected an even number (or 'dims')";
  }
  return check.result();
}

FactorRule RopeOp::getFactorRule() {
  return FactorRule::parse(*this, ropeRule(*this)).linear({Linearity::Multi, Linearity::None});
}

void RopeOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &positions = *operands[1];
  HostTensor &y = results[0];
  int64_t size = x.shape.back(), dims = getDims() ? getDimsAttr().getInt() : size;
  int64_t heads = x.extent(2, x.rank() - 1);
  double theta = getTheta().convertToDouble();
  double scale = getPositionScale() ? getPositionScale()->convertToDouble() : 1;
  for (int64_t row = 0; row < x.extent(0, x.rank() - 1); ++row) {
    const double *from = x.data.data() + row * size;
    double *to = y.data.data() + row * size;
    std::copy(from, from + size, to);
    double position = positions[row / heads] * scale;
    for (int64_t i = 0; i < dims / 2; ++i) {
      double angle = position * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
      double cosine = std::cos(angle), sine = getInverse() ? -std::sin(angle) : std::sin(angle);
      int64_t first = getInterleaved() ? 2 * i : i, second = getInterleaved() ? 2 * i + 1 : i + dims / 2;
      to[first] = from[first] * cosine - from[second] * sine;
      to[second] = from[first] * sine + from[second] * cosine;
    }
  }
}

void RopeOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                           MutableArrayRef<Value> operandGrads) {
  if (needed[0] && resultGrads[0]) // a rotation's transpose turns back
    operandGrads[0] = make<RopeOp>(builder, getLoc(), getX().getType(), resultGrads[0], getPositions(), getTheta(),
                                   getDimsAttr(), getInterleaved(), getPositionScaleAttr(), !getInverse());
}
