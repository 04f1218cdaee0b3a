// Normalisation over the last dimension, and its gradients. The row is whole; everything before it may be split.
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;

namespace {
/// Rows of a tensor: `count` of `width` elements.
struct Rows {
  int64_t count, width;
  explicit Rows(const HostTensor &x) : count(x.extent(0, x.rank() - 1)), width(x.shape.back()) {}
};

/// What a norm does to a row before gain and bias: normalised = (x - mean) * inverse; rms has mean 0.
struct RowStatistics {
  double mean = 0, inverse = 0;

  RowStatistics(const HostTensor &x, int64_t begin, int64_t width, double eps, bool centered) {
    double sum = 0, squares = 0;
    for (int64_t h = 0; h < width; ++h)
      sum += x[begin + h];
    if (centered)
      mean = sum / static_cast<double>(width);
    for (int64_t h = 0; h < width; ++h)
      squares += (x[begin + h] - mean) * (x[begin + h] - mean);
    inverse = 1 / std::sqrt(squares / static_cast<double>(width) + eps);
  }
};

void normalize(const HostTensor &x, const HostTensor &gain, const HostTensor *bias, double eps, HostTensor &y) {
  Rows rows(x);
  for (int64_t r = 0; r < rows.count; ++r) {
    int64_t begin = r * rows.width;
    RowStatistics row(x, begin, rows.width, eps, /*centered=*/bias);
    for (int64_t h = 0; h < rows.width; ++h)
      y[begin + h] = (x[begin + h] - row.mean) * row.inverse * gain[h] + (bias ? (*bias)[h] : 0);
  }
}

/// With n the normalised row and g = dy * gain: dx = inverse (g - mean(g) - n mean(g n)); rms has no mean(g).
void inputGradient(const HostTensor &dy, const HostTensor &x, const HostTensor &gain, double eps, bool centered,
                   HostTensor &dx) {
  Rows rows(x);
  for (int64_t r = 0; r < rows.count; ++r) {
    int64_t begin = r * rows.width;
    RowStatistics row(x, begin, rows.width, eps, centered);
    double sum = 0, product = 0;
    for (int64_t h = 0; h < rows.width; ++h) {
      double g = dy[begin + h] * gain[h];
      sum += g;
      product += g * (x[begin + h] - row.mean) * row.inverse;
    }
    double mean = centered ? sum / static_cast<double>(rows.width) : 0;
    for (int64_t h = 0; h < rows.width; ++h) {
      double normalised = (x[begin + h] - row.mean) * row.inverse;
      dx[begin + h] =
          row.inverse * (dy[begin + h] * gain[h] - mean - normalised * product / static_cast<double>(rows.width));
    }
  }
}

/// dgain = sum over rows of dy * normalised x; dbias (where asked for) the sum of dy.
void parameterGradient(const HostTensor &dy, const HostTensor &x, double eps, HostTensor &dgain, HostTensor *dbias) {
  Rows rows(x);
  std::fill(dgain.data.begin(), dgain.data.end(), 0.0);
  if (dbias)
    std::fill(dbias->data.begin(), dbias->data.end(), 0.0);
  for (int64_t r = 0; r < rows.count; ++r) {
    int64_t begin = r * rows.width;
    RowStatistics row(x, begin, rows.width, eps, /*centered=*/dbias);
    for (int64_t h = 0; h < rows.width; ++h) {
      dgain[h] += dy[begin + h] * (x[begin + h] - row.mean) * row.inverse;
      if (dbias)
        (*dbias)[h] += dy[begin + h];
    }
  }
}

std::string rowTerm(Value x) { return joinNames(leadingNames(tensorType(x).getRank() - 1), "!h"); }

/// The checks that all six ops share: x has a row, eps is positive, sizes fit.
LogicalResult verifyNorm(ShapeCheck check, Value x, double eps, function_ref<std::string()> rule, StringRef names) {
  if (!(eps > 0))
    check.fault() << "eps is " << realText(eps) << ", expected more than 0";
  if (check.rank({"x", x}, 1))
    check.fits(rule(), names);
  return check.result();
}
} // namespace

// ---- layer_norm -----------------------------------------------------------------------------------------------------
static std::string layerNormRule(Value x) { return rowTerm(x) + ", !h, !h -> " + rowTerm(x); }

LogicalResult LayerNormOp::verify() {
  return verifyNorm(
      ShapeCheck(*this).floating({{"x", getX()}, {"gain", getGain()}, {"bias", getBias()}, {"y", getY()}}), getX(),
      getEps().convertToDouble(), [&] { return layerNormRule(getX()); }, "x, gain, bias -> y");
}
FactorRule LayerNormOp::getFactorRule() { return FactorRule::parse(*this, layerNormRule(getX())); }
void LayerNormOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  normalize(*operands[0], *operands[1], operands[2], getEps().convertToDouble(), results[0]);
}
void LayerNormOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (!dy)
    return;
  if (needed[0])
    operandGrads[0] = make<LayerNormGradOp>(builder, getLoc(), getX().getType(), dy, getX(), getGain(), getEpsAttr());
  if (!needed[1] && !needed[2])
    return;
  auto grads =
      make<LayerNormParamGradOp>(builder, getLoc(), getGain().getType(), getBias().getType(), dy, getX(), getEpsAttr());
  if (needed[1])
    operandGrads[1] = grads.getDgain();
  if (needed[2])
    operandGrads[2] = grads.getDbias();
}

// ---- layer_norm_grad, layer_norm_param_grad -------------------------------------------------------------------------
static std::string normGradRule(Value x) { return rowTerm(x) + ", " + rowTerm(x) + ", !h -> " + rowTerm(x); }

LogicalResult LayerNormGradOp::verify() {
  return verifyNorm(
      ShapeCheck(*this).floating({{"dy", getDy()}, {"x", getX()}, {"gain", getGain()}, {"dx", getDx()}}), getX(),
      getEps().convertToDouble(), [&] { return normGradRule(getX()); }, "dy, x, gain -> dx");
}
FactorRule LayerNormGradOp::getFactorRule() {
  return FactorRule::parse(*this, normGradRule(getX())).linear({Linearity::Multi, Linearity::None, Linearity::None});
}
void LayerNormGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  inputGradient(*operands[0], *operands[1], *operands[2], getEps().convertToDouble(), /*centered=*/true, results[0]);
}

LogicalResult LayerNormParamGradOp::verify() {
  return verifyNorm(
      ShapeCheck(*this)
          .floating({{"dy", getDy()}, {"x", getX()}})
          .widened({"dgain", getDgain()}, {"dy", getDy()})
          .widened({"dbias", getDbias()}, {"dy", getDy()}),
      getX(), getEps().convertToDouble(), [&] { return rowTerm(getX()) + ", " + rowTerm(getX()) + " -> !h, !h"; },
      "dy, x -> dgain, dbias");
}
FactorRule LayerNormParamGradOp::getFactorRule() {
  return FactorRule::parse(*this, rowTerm(getX()) + ", " + rowTerm(getX()) + " -> !h, !h")
      .linear({Linearity::Multi, Linearity::None});
}
void LayerNormParamGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  parameterGradient(*operands[0], *operands[1], getEps().convertToDouble(), results[0], &results[1]);
}

// ---- rms_norm and its gradients -------------------------------------------------------------------------------------
LogicalResult RmsNormOp::verify() {
  return verifyNorm(
      ShapeCheck(*this).floating({{"x", getX()}, {"gain", getGain()}, {"y", getY()}}), getX(),
      getEps().convertToDouble(), [&] { return rowTerm(getX()) + ", !h -> " + rowTerm(getX()); }, "x, gain -> y");
}
FactorRule RmsNormOp::getFactorRule() {
  return FactorRule::parse(*this, rowTerm(getX()) + ", !h -> " + rowTerm(getX()));
}
void RmsNormOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  normalize(*operands[0], *operands[1], nullptr, getEps().convertToDouble(), results[0]);
}
void RmsNormOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (dy && needed[0])
    operandGrads[0] = make<RmsNormGradOp>(builder, getLoc(), getX().getType(), dy, getX(), getGain(), getEpsAttr());
  if (dy && needed[1])
    operandGrads[1] = make<RmsNormParamGradOp>(builder, getLoc(), getGain().getType(), dy, getX(), getEpsAttr());
}

LogicalResult RmsNormGradOp::verify() {
  return verifyNorm(
      ShapeCheck(*this).floating({{"dy", getDy()}, {"x", getX()}, {"gain", getGain()}, {"dx", getDx()}}), getX(),
      getEps().convertToDouble(), [&] { return normGradRule(getX()); }, "dy, x, gain -> dx");
}
FactorRule RmsNormGradOp::getFactorRule() {
  return FactorRule::parse(*this, normGradRule(getX())).linear({Linearity::Multi, Linearity::None, Linearity::None});
}
void RmsNormGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  inputGradient(*operands[0], *operands[1], *operands[2], getEps().convertToDouble(), /*centered=*/false, results[0]);
}

LogicalResult RmsNormParamGradOp::verify() {
  return verifyNorm(
      ShapeCheck(*this).floating({{"dy", getDy()}, {"x", getX()}}).widened({"dgain", getDgain()}, {"dy", getDy()}),
      getX(), getEps().convertToDouble(), [&] { return rowTerm(getX()) + ", " + rowTerm(getX()) + " -> !h"; },
      "dy, x -> dgain");
}
FactorRule RmsNormParamGradOp::getFactorRule() {
  return FactorRule::parse(*this, rowTerm(getX()) + ", " + rowTerm(getX()) + " -> !h")
      .linear({Linearity::Multi, Linearity::None});
}
void RmsNormParamGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  parameterGradient(*operands[0], *operands[1], getEps().convertToDouble(), results[0], nullptr);
}
