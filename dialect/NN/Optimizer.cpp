// The optimizer's arithmetic: square sums for the norm, the learning rate of a step, AdamW.
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
#include <numbers>
using namespace mlir;
using namespace hocket::nn;

static std::string allDims(Value x) {
  int64_t rank = tensorType(x).getRank();
  return rank == 0 ? "_" : factorNames("d", rank);
}

// ---- square_sum -----------------------------------------------------------------------------------------------------
LogicalResult SquareSumOp::verify() {
  return ShapeCheck(*this)
      .floating({{"x", getX()}})
      .widened({"y", getY()}, {"x", getX()})
      .fits(allDims(getX()) + " -> _", "x -> y")
      .result();
}
FactorRule SquareSumOp::getFactorRule() { return FactorRule::parse(*this, allDims(getX()) + " -> _"); }
void SquareSumOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  double sum = 0;
  for (double x : operands[0]->data)
    sum += x * x;
  results[0][0] = sum;
}

// ---- cosine_rate ----------------------------------------------------------------------------------------------------
LogicalResult CosineRateOp::verify() {
  ShapeCheck check(*this);
  check.element({"step", getStep()}, IntegerType::get(getContext(), 64))
      .element({"rate", getRate()}, Float32Type::get(getContext()))
      .fits("_ -> _", "step -> rate");
  int64_t warmup = getWarmupAttr().getInt();
  double peak = getPeak().convertToDouble(), floor = getFloor().convertToDouble();
  if (!(peak > 0) || !std::isfinite(peak))
    check.fault() << "peak is " << realText(peak) << ", expected more than 0";
  if (!(floor >= 0) || floor > peak)
    check.fault() << "floor is " << realText(floor) << ", expected 0 to " << realText(peak) << " (the peak)";
  if (warmup < 0)
    check.fault() << "warmup is " << warmup << ", expected at least 0";
  if (getDecay() && getDecayAttr().getInt() <= warmup)
    check.fault() << "decay is " << getDecayAttr().getInt() << ", expected more than " << warmup << " (the warmup)";
  return check.result();
}
FactorRule CosineRateOp::getFactorRule() { return FactorRule::parse(*this, "_ -> _"); }
void CosineRateOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  double step = (*operands[0])[0], peak = getPeak().convertToDouble(), floor = getFloor().convertToDouble();
  double warmup = static_cast<double>(getWarmupAttr().getInt());
  double &rate = results[0][0];
  if (step < warmup) {
    rate = peak * step / warmup;
  } else if (!getDecay()) {
    rate = peak;
  } else {
    double decay = static_cast<double>(getDecayAttr().getInt());
    double done = std::min(1.0, (step - warmup) / (decay - warmup));
    rate = floor + (peak - floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
}

// ---- adamw ----------------------------------------------------------------------------------------------------------
static std::string adamwRule(AdamWOp op) {
  std::string d = allDims(op.getParam());
  return d + ", " + d + ", " + d + ", " + d + ", _, _, _" + offsetTerm(op.getUnless()).str() + " -> " + d + ", " + d +
         ", " + d;
}

LogicalResult AdamWOp::verify() {
  ShapeCheck check(*this);
  FloatType f32 = Float32Type::get(getContext());
  check
      .floating({{"param", getParam()},
                 {"grad", getGrad()},
                 {"m", getM()},
                 {"v", getV()},
                 {"new_param", getNewParam()},
                 {"new_m", getNewM()},
                 {"new_v", getNewV()}})
      .element({"rate", getRate()}, f32)
      .element({"clip", getClip()}, f32)
      .element({"step", getStep()}, IntegerType::get(getContext(), 64))
      .fits(adamwRule(*this), "param, grad, m, v, rate, clip, step, unless -> new_param, new_m, new_v");
  if (getUnless())
    check.element({"unless", getUnless()}, f32);
  if (getBetas().size() != 2)
    check.fault() << "number of betas is " << getBetas().size() << ", expected 2";
  for (double beta : getBetas())
    if (!(beta >= 0 && beta < 1))
      check.fault() << "beta is " << realText(beta) << ", expected at least 0 and less than 1";
  if (double eps = getEps().convertToDouble(); !(eps > 0))
    check.fault() << "eps is " << realText(eps) << ", expected more than 0";
  if (double decay = getWeightDecay().convertToDouble(); !(decay >= 0))
    check.fault() << "weight_decay is " << realText(decay) << ", expected at least 0";
  if (double scale = getLrScale().convertToDouble(); !(scale >= 0))
    check.fault() << "lr_scale is " << realText(scale) << ", expected at least 0";
  return check.result();
}

FactorRule AdamWOp::getFactorRule() { return FactorRule::parse(*this, adamwRule(*this)); }

void AdamWOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &param = *operands[0], &grad = *operands[1], &m = *operands[2], &v = *operands[3];
  double rate = (*operands[4])[0] * getLrScale().convertToDouble(), clip = (*operands[5])[0], step = (*operands[6])[0];
  double beta1 = getBetas()[0], beta2 = getBetas()[1];
  double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  double eps = getEps().convertToDouble(), decay = getWeightDecay().convertToDouble();
  if (operands.size() > 7 && (*operands[7])[0] != 0) {
    results[0].data = param.data, results[1].data = m.data, results[2].data = v.data;
    return;
  }
  for (int64_t i = 0; i < param.size(); ++i) {
    double g = clip * grad[i];
    double newM = beta1 * m[i] + (1 - beta1) * g, newV = beta2 * v[i] + (1 - beta2) * g * g;
    double update = newM / correction1 / (std::sqrt(newV / correction2) + eps) + decay * param[i];
    results[0][i] = param[i] - rate * update;
    results[1][i] = newM;
    results[2][i] = newV;
  }
}
