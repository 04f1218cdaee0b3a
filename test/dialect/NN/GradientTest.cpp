// Every derivative against finite differences of the op's own meaning, through buildGradient and evaluate.
#include "test/dialect/NN/OpCase.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
constexpr double step = 1e-3;
constexpr double tolerance = 1e-6;

std::vector<OpCase> differentiableCases() {
  std::vector<OpCase> cases;
  for (const OpCase &each : allCases())
    if (Program program(each); program.sound() && isa<DifferentiableOpInterface>(program.op()))
      cases.push_back(each);
  return cases;
}

/// Results whose gradient is asked for: floats, and not what is kept for the gradient's own use.
SmallVector<unsigned> lossResults(Operation &op) {
  SmallVector<unsigned> indices;
  for (OpResult result : op.getResults())
    if (isFloat(result) && !(isa<AttentionOp>(op) && result.getResultNumber() == 1) &&
        !(isa<CrossEntropyOp>(op) && result.getResultNumber() == 2))
      indices.push_back(result.getResultNumber());
  return indices;
}

/// loss = sum over results of weights · result, as a function of the arguments.
struct Loss {
  Program program;
  SmallVector<unsigned> results;
  std::vector<HostTensor> weights;

  explicit Loss(const OpCase &each) : program(each), results(lossResults(program.op())) {
    std::mt19937_64 random(7);
    for (unsigned i : results)
      weights.push_back(randomNormal(cast<RankedTensorType>(program.op().getResult(i).getType()).getShape(), random));
  }
  double operator()(const std::vector<HostTensor> &arguments) {
    Values values = program.run(arguments);
    double loss = 0;
    for (auto [i, weight] : llvm::zip(results, weights)) {
      HostTensor result = values.lookup(program.op().getResult(i));
      for (int64_t j = 0; j < result.size(); ++j)
        loss += weight[j] * result[j];
    }
    return loss;
  }
  /// Fourth-order central differences by one argument.
  HostTensor numericGradient(std::vector<HostTensor> arguments, unsigned argument) {
    HostTensor gradient(arguments[argument].shape);
    for (int64_t i = 0; i < gradient.size(); ++i) {
      double &x = arguments[argument][i], at = x;
      auto lossAt = [&](double offset) {
        x = at + offset;
        return (*this)(arguments);
      };
      gradient[i] = (8 * (lossAt(step) - lossAt(-step)) - (lossAt(2 * step) - lossAt(-2 * step))) / (12 * step);
      x = at;
    }
    return gradient;
  }
};

/// The program with its gradient built; the gradients of results are further block arguments.
struct Backward {
  Program program;
  SmallVector<Value> operandGrads, operands;

  Backward(const OpCase &each, ArrayRef<unsigned> results, const BitVector *needed = nullptr) : program(each) {
    Operation &op = program.op();
    operands.assign(op.operand_begin(), op.operand_end());
    BitVector all(operands.size());
    for (auto [i, operand] : llvm::enumerate(operands))
      all[i] = isFloat(operand);
    operandGrads.resize(operands.size());
    SmallVector<Value> resultGrads(op.getNumResults());
    for (unsigned i : results)
      resultGrads[i] = program.body().addArgument(op.getResult(i).getType(), op.getLoc());
    OpBuilder builder(program.body().getTerminator());
    cast<DifferentiableOpInterface>(op).buildGradient(builder, resultGrads, needed ? *needed : all, operandGrads);
  }
};
} // namespace

class GradientTest : public testing::TestWithParam<OpCase> {};

TEST_P(GradientTest, EqualsFiniteDifferences) {
  Loss loss(GetParam());
  Backward backward(GetParam(), loss.results);
  ASSERT_TRUE(succeeded(backward.program.verify()));
  std::vector<HostTensor> arguments = loss.program.randomArguments();
  std::vector<HostTensor> withWeights = arguments;
  withWeights.insert(withWeights.end(), loss.weights.begin(), loss.weights.end());
  Values values = backward.program.run(withWeights);
  for (auto [index, argument] : llvm::enumerate(loss.program.body().getArguments())) {
    if (!isFloat(argument))
      continue;
    HostTensor analytic(arguments[index].shape); // an argument may be several operands
    for (auto [operand, grad] : llvm::zip(backward.operands, backward.operandGrads)) {
      auto of = dyn_cast<BlockArgument>(operand);
      if (!of || of.getArgNumber() != index)
        continue;
      ASSERT_TRUE(grad) << "no gradient of argument " << index;
      EXPECT_EQ(grad.getType(), operand.getType());
      HostTensor part = values.lookup(grad);
      for (int64_t i = 0; i < part.size(); ++i)
        analytic[i] += part[i];
    }
    EXPECT_LE(relativeDifference(analytic, loss.numericGradient(arguments, index)), tolerance) << "argument " << index;
  }
}

TEST_P(GradientTest, BuildsOnlyWhatIsNeeded) {
  SmallVector<unsigned> results = lossResults(Program(GetParam()).op());
  unsigned count = Program(GetParam()).op().getNumOperands();
  for (unsigned only = 0; only < count; ++only) {
    BitVector needed(count);
    if (!isFloat(Program(GetParam()).op().getOperand(only)))
      continue;
    needed.set(only);
    Backward backward(GetParam(), results, &needed);
    EXPECT_TRUE(succeeded(backward.program.verify()));
    for (auto [i, grad] : llvm::enumerate(backward.operandGrads))
      EXPECT_EQ(static_cast<bool>(grad), i == only) << "operand " << i << " of " << only;
  }
}

TEST_P(GradientTest, BuildsNothingWithoutGradientOfAResult) {
  Backward backward(GetParam(), {});
  for (Value grad : backward.operandGrads)
    EXPECT_FALSE(grad);
}

INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, testing::ValuesIn(differentiableCases()), caseName);

TEST(GradientOfUnstack, SlicesWithoutGradientAreZero) {
  OpCase each{
      "slices", "%x: tensor<2x3x5xf32>",
      "%a, %b, %c = nn.unstack %x dim 1 : tensor<2x3x5xf32> -> tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>"};
  Backward backward(each, {1});
  ASSERT_TRUE(succeeded(backward.program.verify()));
  Values values = backward.program.run({HostTensor({2, 3, 5}, 4), HostTensor({2, 5}, 1)});
  HostTensor dx = values.lookup(backward.operandGrads[0]);
  for (int64_t i = 0; i < dx.size(); ++i)
    EXPECT_EQ(dx[i], i / 5 % 3 == 1 ? 1 : 0);
}

TEST(GradientOfAttention, KeepsTheLogSumExpInPlace) {
  for (const OpCase &each : allCases()) {
    if (each.name != "attention")
      continue;
    Backward backward(each, {0});
    auto forward = dyn_cast<AttentionOp>(backward.program.body().front());
    ASSERT_TRUE(forward);
    EXPECT_TRUE(forward.getLse());
    EXPECT_EQ(llvm::range_size(backward.program.body().getOps<AttentionOp>()), 1);
  }
}
