// Norm, clip, learning rate and AdamW against scalar loops written by hand.
#include "test/passes/Interpreter/TinyModels.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
struct AdamW {
  HostTensor param, m, v;
  double decay, lrScale;
  /// Loshchilov and Hutter 2019, algorithm 2, with the gradient already clipped.
  void update(const HostTensor &gradient, double clip, double rate, int step) {
    for (int64_t i = 0; i < param.size(); ++i) {
      double g = gradient[i] * clip;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      double mean = m[i] / (1 - std::pow(0.9, step)), square = v[i] / (1 - std::pow(0.95, step));
      param[i] -= lrScale * rate * (mean / (std::sqrt(square) + 1e-8) + decay * param[i]);
    }
  }
};

double rateAt(int step) { // cosine(peak = 1e-2, warmup = 2, decay = 10, floor = 1e-3)
  if (step <= 2)
    return 1e-2 * step / 2;
  return 1e-3 + 0.5 * (1e-2 - 1e-3) * (1 + std::cos(M_PI * (step - 2) / 8.0));
}

double squareSum(const HostTensor &tensor) {
  double sum = 0;
  for (double x : tensor.data)
    sum += x * x;
  return sum;
}
} // namespace

TEST(Optimizer, ThreeStepsEqualAScalarLoop) {
  Program program = compile(recipeFor(tinyGpt, 4, R"(group "h.1.mlp.**" lr_scale 0.5 weight_decay 0.3)"), 2);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  std::map<std::string, AdamW> expected;
  for (const std::string &name : runner.parameters()) {
    HostTensor param = *runner.state(SlotKind::Param, name), zeros(param.shape);
    bool scaled = name.starts_with("h.1.mlp."), matrix = name.starts_with("w") || name.ends_with("c.weight") ||
                                                         name.ends_with("qkv.weight") || name.ends_with("proj.weight");
    expected[name] = {param, zeros, zeros, scaled ? 0.3 : matrix ? 0.1 : 0.0, scaled ? 0.5 : 1.0};
  }
  for (int step = 1; step <= 3; ++step) {
    auto result = runner.train(randomBatch(2, 2, 5, 11, step));
    ASSERT_TRUE(mlir::succeeded(result));
    double squares = 0;
    for (auto &[name, adamw] : expected)
      squares += squareSum(*runner.gradient(name));
    EXPECT_NEAR(result->gradNorm, std::sqrt(squares), 1e-12);
    EXPECT_NEAR(result->learningRate, rateAt(step), 1e-12);
    double clip = std::min(1.0, 1.0 / (std::sqrt(squares) + static_cast<double>(1e-6f)));
    for (auto &[name, adamw] : expected) {
      adamw.update(*runner.gradient(name), clip, rateAt(step), step);
      HostTensor found = *runner.state(SlotKind::Param, name);
      for (int64_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], adamw.param[i], 1e-11) << name << " " << i << " step " << step;
    }
  }
}

TEST(Optimizer, AFrozenParameterStays) {
  Program program = compile(recipeFor(tinyGpt, 4, R"(group "wpe" frozen)"), 2);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  HostTensor before = *runner.state(SlotKind::Param, "wpe"), other = *runner.state(SlotKind::Param, "wte");
  ASSERT_TRUE(mlir::succeeded(runner.train(randomBatch(2, 2, 5, 11, 1))));
  EXPECT_EQ(runner.state(SlotKind::Param, "wpe")->data, before.data);
  EXPECT_NE(runner.state(SlotKind::Param, "wte")->data, other.data);
  EXPECT_FALSE(program.step.findSlot(SlotKind::FirstMoment, "wpe"));
  EXPECT_FALSE(program.step.findSlot(SlotKind::Accumulator, "wpe"));
}

// T01: the gradient of a tied parameter is the sum of its uses'; it is one parameter and votes once in the norm.
TEST(Optimizer, ATiedParameterVotesOnceWithTheSumOfItsUses) {
  Program program = compile(recipeFor(tinyGpt, 4), 2);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  auto result = runner.train(randomBatch(2, 2, 5, 11, 1));
  ASSERT_TRUE(mlir::succeeded(result));
  auto names = runner.parameters();
  EXPECT_EQ(std::count(names.begin(), names.end(), "wte"), 1);
  HostTensor embedding = *runner.state(SlotKind::Accumulator, "wte#0"),
             head = *runner.state(SlotKind::Accumulator, "wte#1");
  HostTensor sum = *runner.gradient("wte");
  for (int64_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], embedding[i] + head[i]);
  double squares = 0;
  for (const std::string &name : names)
    squares += squareSum(*runner.gradient(name));
  EXPECT_NEAR(result->gradNorm, std::sqrt(squares), 1e-12);
  EXPECT_GT(std::abs(squareSum(sum) - squareSum(embedding) - squareSum(head)), 1e-4); // so the test tells them apart
}

// N06: per-parameter norms 3 and 4 make 5, whatever stage holds which.
TEST(Optimizer, NormsThreeAndFourMakeFive) {
  const char *scaled = R"mlir(
nn.model @model(%tokens: tensor<?x3xi32>, %next: tensor<?x3xi32>) -> (tensor<f32>, tensor<i64>) {
  %a = param "a" : tensor<2x2xf32> init zeros
  %b = param "b" : tensor<2x2xf32> init zeros
  %x = embedding %tokens, %a : tensor<?x3xi32>, tensor<2x2xf32> -> tensor<?x3x2xf32>
  %y = embedding %tokens, %b : tensor<?x3xi32>, tensor<2x2xf32> -> tensor<?x3x2xf32>
  %logits = elementwise %x, %y : tensor<?x3x2xf32>, tensor<?x3x2xf32> -> tensor<?x3x2xf32> {
  ^bb0(%p: f32, %q: f32):
    %three = arith.constant 3.0 : f32
    %four = arith.constant 4.0 : f32
    %u = arith.mulf %p, %three : f32
    %v = arith.mulf %q, %four : f32
    %z = arith.addf %u, %v : f32
    return %z : f32
  }
  %sum, %count = cross_entropy %logits, %next : tensor<?x3x2xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";
  Program program = compile(recipeFor(scaled, 1), 1);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  int64_t shape[] = {1, 1, 3};
  Batch batch{HostTensor(shape), HostTensor(shape, 0)};
  auto result = runner.train(batch);
  ASSERT_TRUE(mlir::succeeded(result));
  double unit = std::sqrt(0.5); // gradient of the logits: -1/2 and 1/2 in one row of the table
  EXPECT_NEAR(std::sqrt(squareSum(*runner.gradient("a"))), 3 * unit, 1e-12);
  EXPECT_NEAR(std::sqrt(squareSum(*runner.gradient("b"))), 4 * unit, 1e-12);
  EXPECT_NEAR(result->gradNorm, 5 * unit, 1e-12);
}
