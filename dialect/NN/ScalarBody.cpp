// Evaluates scalar bodies.
#include "dialect/NN/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
using namespace mlir;

namespace hocket::nn {
namespace {
using Function = double (*)(double, double, double);
double same(double a, double, double) { return a; }
/// As arith defines them: a NaN on either side is the result.
double maximum(double a, double b, double) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double minimum(double a, double b, double) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

struct NamedFunction {
  StringRef name;
  Function apply; ///< null: depends on an attribute of the op
};
constexpr NamedFunction functions[] = {
    {"arith.addf", [](double a, double b, double) { return a + b; }},
    {"arith.cmpf", nullptr},
    {"arith.constant", nullptr},
    {"arith.divf", [](double a, double b, double) { return a / b; }},
    {"arith.extf", same},
    {"arith.maximumf", maximum},
    {"arith.minimumf", minimum},
    {"arith.mulf", [](double a, double b, double) { return a * b; }},
    {"arith.negf", [](double a, double, double) { return -a; }},
    {"arith.select", [](double c, double a, double b) { return c != 0 ? a : b; }},
    {"arith.sitofp", same},
    {"arith.subf", [](double a, double b, double) { return a - b; }},
    {"arith.truncf", same},
    {"math.absf", [](double a, double, double) { return std::fabs(a); }},
    {"math.cos", [](double a, double, double) { return std::cos(a); }},
    {"math.erf", [](double a, double, double) { return std::erf(a); }},
    {"math.exp", [](double a, double, double) { return std::exp(a); }},
    {"math.log", [](double a, double, double) { return std::log(a); }},
    {"math.powf", [](double a, double b, double) { return std::pow(a, b); }},
    {"math.rsqrt", [](double a, double, double) { return 1 / std::sqrt(a); }},
    {"math.sin", [](double a, double, double) { return std::sin(a); }},
    {"math.sqrt", [](double a, double, double) { return std::sqrt(a); }},
    {"math.tanh", [](double a, double, double) { return std::tanh(a); }},
};

const NamedFunction *find(Operation &op) {
  const auto *found =
      llvm::find_if(functions, [&](const NamedFunction &each) { return each.name == op.getName().getStringRef(); });
  return found == std::end(functions) ? nullptr : found;
}

bool unordered(double a, double b) { return std::isnan(a) || std::isnan(b); }

Function comparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return [](double, double, double) { return 0.0; };
  case P::AlwaysTrue:
    return [](double, double, double) { return 1.0; };
  case P::OEQ:
    return [](double a, double b, double) { return a == b ? 1.0 : 0.0; };
  case P::OGT:
    return [](double a, double b, double) { return a > b ? 1.0 : 0.0; };
  case P::OGE:
    return [](double a, double b, double) { return a >= b ? 1.0 : 0.0; };
  case P::OLT:
    return [](double a, double b, double) { return a < b ? 1.0 : 0.0; };
  case P::OLE:
    return [](double a, double b, double) { return a <= b ? 1.0 : 0.0; };
  case P::ONE:
    return [](double a, double b, double) { return a != b && !unordered(a, b) ? 1.0 : 0.0; };
  case P::ORD:
    return [](double a, double b, double) { return unordered(a, b) ? 0.0 : 1.0; };
  case P::UEQ:
    return [](double a, double b, double) { return a == b || unordered(a, b) ? 1.0 : 0.0; };
  case P::UGT:
    return [](double a, double b, double) { return a <= b ? 0.0 : 1.0; };
  case P::UGE:
    return [](double a, double b, double) { return a < b ? 0.0 : 1.0; };
  case P::ULT:
    return [](double a, double b, double) { return a >= b ? 0.0 : 1.0; };
  case P::ULE:
    return [](double a, double b, double) { return a > b ? 0.0 : 1.0; };
  case P::UNE:
    return [](double a, double b, double) { return a != b ? 1.0 : 0.0; };
  case P::UNO:
    return [](double a, double b, double) { return unordered(a, b) ? 1.0 : 0.0; };
  }
  return nullptr;
}

double constantValue(arith::ConstantOp op) {
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    return real.getValueAsDouble();
  APInt value = cast<IntegerAttr>(op.getValue()).getValue();
  return value.getBitWidth() == 1 ? value.getBoolValue() : static_cast<double>(value.getSExtValue());
}
} // namespace

Type scalarType(Type element) {
  auto real = dyn_cast<FloatType>(element);
  return real && real.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

bool isScalarOp(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<FloatAttr, IntegerAttr>(constant.getValue());
  return find(op) && llvm::all_of(op.getOperandTypes(), [](Type type) { return type.isIntOrFloat(); });
}

std::string scalarOpList() {
  return llvm::join(llvm::map_range(functions, [](const NamedFunction &each) { return each.name; }), ", ");
}

int ScalarProgram::slotOf(Value value) {
  auto [entry, isNew] = slots.try_emplace(value, values.size());
  if (isNew)
    values.push_back(0);
  return entry->second;
}

ScalarProgram::ScalarProgram(Block &body) {
  for (BlockArgument argument : body.getArguments())
    slotOf(argument);
  for (Operation &op : body) {
    if (auto terminator = dyn_cast<ReturnOp>(op)) {
      for (Value value : terminator.getValues())
        returned.push_back(slotOf(value));
      return;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      values[slotOf(constant.getResult())] = constantValue(constant);
      continue;
    }
    auto compare = dyn_cast<arith::CmpFOp>(op);
    Step step{compare ? comparison(compare.getPredicate()) : find(op)->apply, {0, 0, 0}, slotOf(op.getResult(0))};
    for (auto [index, operand] : llvm::enumerate(op.getOperands()))
      step.inputs[index] = slotOf(operand);
    steps.push_back(step);
  }
}

void ScalarProgram::run(ArrayRef<double> arguments, MutableArrayRef<double> results) {
  llvm::copy(arguments, values.begin());
  for (const Step &step : steps)
    values[step.output] = step.apply(values[step.inputs[0]], values[step.inputs[1]], values[step.inputs[2]]);
  for (auto [result, slot] : llvm::zip(results, returned))
    result = values[slot];
}

void runElementwise(ScalarProgram &program, ArrayRef<const HostTensor *> operands,
                    MutableArrayRef<HostTensor> results) {
  SmallVector<double> arguments(operands.size()), returned(results.size());
  for (int64_t i = 0; i < results[0].size(); ++i) {
    for (auto [argument, operand] : llvm::zip(arguments, operands))
      argument = (*operand)[i % operand->size()];
    program.run(arguments, returned);
    for (auto [result, value] : llvm::zip(results, returned))
      result[i] = value;
  }
}
} // namespace hocket::nn
