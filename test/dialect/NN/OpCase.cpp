// Parses cases and runs them op by op.
#include "test/dialect/NN/OpCase.h"
#include "dialect/Dist/Dist.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
using namespace mlir;

namespace hocket::nn::test {
MLIRContext &context() {
  static MLIRContext *instance = [] {
    DialectRegistry registry;
    registry.insert<NNDialect, dist::DistDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
    auto *made = new MLIRContext(registry); // lives as long as the program
    made->loadAllAvailableDialects();
    return made;
  }();
  return *instance;
}

Program::Program(const OpCase &each) : each(each) {
  std::string text = "func.func @test(" + each.arguments + ") {\n" + each.body + "\nreturn }";
  module = parseSourceString<ModuleOp>(text, &context());
  EXPECT_TRUE(module) << text;
  if (module)
    block = &(*module->getOps<func::FuncOp>().begin()).getBody().front();
}

static bool isInteger(Value value) { return getElementTypeOrSelf(value.getType()).isInteger(); }
bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

HostTensor randomNormal(ArrayRef<int64_t> shape, std::mt19937_64 &random) {
  std::normal_distribution<double> normal;
  HostTensor tensor(shape);
  for (double &x : tensor.data)
    x = normal(random);
  return tensor;
}

std::vector<HostTensor> Program::randomArguments() const {
  std::mt19937_64 random(std::hash<std::string>()(each.name));
  std::vector<HostTensor> tensors;
  for (BlockArgument argument : block->getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    HostTensor tensor = randomNormal(type ? type.getShape() : ArrayRef<int64_t>(), random);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      auto [low, high] = each.integers;
      if (isInteger(argument))
        tensor[i] = static_cast<double>(low == high ? low + (tensor.rank() ? i % tensor.shape.back() : 0)
                                                    : std::uniform_int_distribution<int64_t>(low, high - 1)(random));
      else if (each.positive)
        tensor[i] = std::fabs(tensor[i]);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<HostTensor> evaluate(Operation &op, ArrayRef<HostTensor> operands,
                                 ArrayRef<SmallVector<int64_t>> resultShapes) {
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands)
    pointers.push_back(&operand);
  std::vector<HostTensor> results;
  for (const SmallVector<int64_t> &shape : resultShapes)
    results.emplace_back(shape, NAN);
  cast<ReferenceOpInterface>(op).evaluate(pointers, results);
  return results;
}

SmallVector<SmallVector<int64_t>> resultShapes(Operation &op) {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Value result : op.getResults())
    shapes.emplace_back(cast<RankedTensorType>(result.getType()).getShape());
  return shapes;
}

Values Program::run(const std::vector<HostTensor> &arguments) {
  Values values;
  for (auto [argument, tensor] : llvm::zip(block->getArguments(), arguments))
    values[argument] = tensor;
  for (Operation &each : block->without_terminator()) {
    std::vector<HostTensor> operands;
    for (Value operand : each.getOperands())
      operands.push_back(values.lookup(operand));
    std::vector<HostTensor> results = evaluate(each, operands, resultShapes(each));
    for (auto [result, tensor] : llvm::zip(each.getResults(), results))
      values[result] = tensor;
  }
  return values;
}

double relativeDifference(const HostTensor &a, const HostTensor &b) {
  if (a.shape != b.shape || a.data.size() != b.data.size())
    return INFINITY;
  double difference = 0, size = 1e-3;
  for (int64_t i = 0; i < b.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i]))
      return INFINITY;
    if (a[i] != b[i])
      difference = std::max(difference, std::fabs(a[i] - b[i]));
    if (std::isfinite(b[i]))
      size = std::max(size, std::fabs(b[i]));
  }
  return difference / size;
}
} // namespace hocket::nn::test
