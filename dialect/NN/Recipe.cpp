// Recipes: their model is there, each entry stands once, and every number is one that training can use.
#include "dialect/NN/NN.h"
#include <cmath>
using namespace mlir;

namespace hocket::nn {

/// f16 has so little range that gradients vanish without a scale; bf16 and f32 have as much as the loss itself.
static LogicalResult verifyLossScale(RecipeOp recipe) {
  auto precision = recipe.entry<PrecisionOp>();
  auto scale = recipe.entry<LossScaleOp>();
  bool needed = precision && precision.getComputeAttr() && precision.getCompute().isF16();
  if (needed && !scale) {
    return precision.emitOpError() << "compute f16 needs 'loss_scale', dynamic or static(NUMBER): gradients below 6e-8 "
                                      "would become 0";
  }
  if (needed || !scale)
    return success();
  std::string compute;
  llvm::raw_string_ostream(compute) << (precision && precision.getComputeAttr()
                                            ? precision.getCompute()
                                            : Float32Type::get(recipe.getContext()));
  InFlightDiagnostic error = scale.emitOpError()
                             << "serves compute f16, but @" << recipe.getSymName() << " computes in " << compute
                             << ", which has the range of f32: a scale would do nothing";
  if (precision)
    error.attachNote(precision.getLoc()) << "precision is set here";
  return error;
}

LogicalResult RecipeOp::verify() {
  LogicalResult result = success();
  llvm::StringMap<Operation *> first;
  for (Operation &op : getBody().front()) {
    StringRef name = op.getName().stripDialect();
    if (!isa<BatchOp, PrecisionOp, OptimizerOp, LearningRateOp, ClipOp, LossScaleOp, CapacityOp, AuxiliaryLossOp,
             SeedOp, GroupOp>(op)) {
      result = op.emitOpError() << "does not belong in a recipe (known: batch, precision, optimizer, learning_rate, "
                                   "clip, loss_scale, capacity, auxiliary_loss, seed, group)";
      continue;
    }
    auto [known, isNew] = first.try_emplace(name, &op);
    if (isNew || isa<GroupOp>(op))
      continue;
    InFlightDiagnostic error = op.emitOpError() << "is a second '" << name << "' in recipe @" << getSymName();
    error.attachNote(known->second->getLoc()) << "the first one is here";
    result = error;
  }
  for (StringRef required : {"batch", "optimizer", "learning_rate"})
    if (!first.contains(required))
      result = emitOpError() << "@" << getSymName() << " needs '" << required << "'";
  return failure(failed(result) || failed(verifyLossScale(*this)));
}

LogicalResult RecipeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *table = SymbolTable::getNearestSymbolTable(getOperation()->getParentOp());
  if (symbols.lookupSymbolIn<ModelOp>(table, getModelAttr().getAttr()))
    return success();
  SmallVector<StringRef> known;
  for (auto model : table->getRegion(0).getOps<ModelOp>())
    known.push_back(model.getName());
  return emitOpError() << "is for the unknown model '" << getModel() << "'" << knownNames(getModel(), known);
}

/// Training computes with it in f32, where 1e40 is infinite and 1e-46 is zero.
static bool fitsFloat(double value) {
  float rounded = static_cast<float>(value);
  return std::isfinite(rounded) && (value == 0) == (rounded == 0);
}

/// One fault at most: `what` is `value`, which `ok` says is not `allowed`.
static LogicalResult check(Operation *op, bool ok, StringRef what, double value, const Twine &allowed) {
  if (ok && std::isfinite(value) && !fitsFloat(value))
    return op->emitOpError() << what << " is " << realText(value) << ", expected a number that f32 holds";
  if (ok && std::isfinite(value))
    return success();
  return op->emitOpError() << what << " is " << realText(value) << ", expected " << allowed;
}
static LogicalResult check(Operation *op, bool ok, StringRef what, int64_t value, const Twine &allowed) {
  if (ok)
    return success();
  return op->emitOpError() << what << " is " << value << ", expected " << allowed;
}
/// All of them were said already; this only adds them up.
static LogicalResult all(ArrayRef<LogicalResult> results) {
  return failure(llvm::any_of(results, [](LogicalResult result) { return failed(result); }));
}

LogicalResult BatchOp::verify() {
  return check(*this, int64_t(getSequences()) >= 1, "number of sequences", int64_t(getSequences()), "at least 1");
}

LogicalResult PrecisionOp::verify() {
  LogicalResult result = success();
  auto one = [&](StringRef what, Type type) {
    if (type && !type.isF32() && !type.isBF16() && !type.isF16())
      result = emitOpError() << what << " is " << type << ", expected f32, bf16 or f16";
  };
  one("params", getParams());
  one("compute", getCompute());
  one("accumulate", getAccumulate());
  one("reduce", getReduce().value_or(Type()));
  one("master", getMaster().value_or(Type()));
  if (failed(result))
    return result;
  Type f32 = Float32Type::get(getContext());
  auto oneOf = [&](StringRef what, Type type, Type other, StringRef otherName, StringRef reason) {
    if (!type || type == f32 || type == other)
      return;
    InFlightDiagnostic error = emitOpError() << what << " is " << type << ", expected " << f32;
    if (other != f32)
      error << " or " << other << " (" << otherName << ")";
    error << ": " << reason;
    result = error;
  };
  Type compute = getCompute(), params = getParams();
  oneOf("params", params, compute, "as compute", "parameters are read as compute, and never widened for it");      // C1
  oneOf("accumulate", getAccumulate(), compute, "as compute", "sums are no narrower than what is added");          // C2
  oneOf("reduce", getReduce().value_or(Type()), compute, "as compute", "sums are no narrower than what is added"); // C2
  oneOf("master", getMaster().value_or(Type()), params, "as params", "it is what the optimizer works on");         // C3
  return result;
}

LogicalResult LossScaleOp::verify() {
  constexpr double largest = std::numeric_limits<float>::max();
  double initial = getInitial().convertToDouble();
  LogicalResult result = check(*this, initial > 0 && initial <= largest, "scale", initial, "above 0, and a float");
  if (!isDynamic())
    return result;
  double growth = getGrowth()->convertToDouble(), backoff = getBackoff()->convertToDouble();
  double floor = getFloor()->convertToDouble();
  int64_t interval = getIntervalAttr().getInt(), hysteresis = getHysteresisAttr().getInt();
  return all({result, check(*this, growth > 1, "growth", growth, "above 1"),
              check(*this, backoff > 0 && backoff < 1, "backoff", backoff, "above 0 and below 1"),
              check(*this, interval >= 1 && interval < (1 << 24), "interval", interval, "1 to 16777215 steps"),
              check(*this, hysteresis >= 1 && hysteresis < (1 << 24), "hysteresis", hysteresis, "1 to 16777215"),
              check(*this, floor > 0 && floor <= initial, "floor", floor, "above 0 and at most " + realText(initial))});
}

LogicalResult OptimizerOp::verify() {
  LogicalResult result = success();
  if (getBetas().size() != 2)
    result = emitOpError() << "has " << getBetas().size() << " betas, expected 2";
  for (double beta : getBetas())
    result = all({result, check(*this, beta >= 0 && beta < 1, "beta", beta, "at least 0 and below 1")});
  double eps = getEps().convertToDouble(), decay = getWeightDecay().convertToDouble();
  return all({result, check(*this, eps > 0, "eps", eps, "above 0"),
              check(*this, decay >= 0, "weight_decay", decay, "at least 0")});
}

LogicalResult LearningRateOp::verify() {
  double peak = getPeak().convertToDouble(), floor = getFloor().convertToDouble();
  int64_t warmup = getWarmup();
  LogicalResult result = all({check(*this, peak > 0, "peak", peak, "above 0"),
                              check(*this, warmup >= 0, "warmup", warmup, "at least 0 steps")});
  if (!getDecay())
    return all({result, check(*this, floor == 0, "floor of a constant rate", floor, "0")});
  int64_t decay = *getDecay();
  return all({result,
              check(*this, decay > warmup, "decay", decay, "more than the " + Twine(warmup) + " steps of warmup"),
              check(*this, floor >= 0 && floor <= peak, "floor", floor, "between 0 and peak, " + realText(peak))});
}

LogicalResult ClipOp::verify() {
  double norm = getNorm().convertToDouble();
  return check(*this, norm > 0, "norm", norm, "above 0");
}

LogicalResult CapacityOp::verify() {
  double factor = getFactor().convertToDouble();
  return check(*this, factor > 0, "factor", factor, "above 0");
}

LogicalResult AuxiliaryLossOp::verify() {
  double coefficient = getCoefficient().convertToDouble();
  return check(*this, coefficient >= 0, "coefficient", coefficient, "at least 0");
}

LogicalResult SeedOp::verify() {
  return check(*this, int64_t(getSeed()) >= 0, "seed", int64_t(getSeed()), "at least 0");
}

LogicalResult GroupOp::verify() {
  LogicalResult result = success();
  std::string plain = getPattern().str();
  llvm::replace(plain, '*', 'x');
  if (!isName(plain))
    result = emitOpError() << "has the pattern '" << getPattern()
                           << "', expected components of letters, digits, '_', '-' or '*' joined by dots";
  if (!getLrScale() && !getWeightDecay() && !getFrozen())
    result = emitOpError() << "'" << getPattern() << "' sets nothing (known: lr_scale, weight_decay, frozen)";
  if (getFrozen() && (getLrScale() || getWeightDecay()))
    result = emitOpError() << "'" << getPattern() << "' is frozen: it has no lr_scale and no weight_decay";
  if (getLrScale())
    result = all({result, check(*this, getLrScale()->convertToDouble() > 0, "lr_scale", getLrScale()->convertToDouble(),
                                "above 0 (or: frozen)")});
  if (getWeightDecay())
    result = all({result, check(*this, getWeightDecay()->convertToDouble() >= 0, "weight_decay",
                                getWeightDecay()->convertToDouble(), "at least 0")});
  return result;
}
} // namespace hocket::nn
