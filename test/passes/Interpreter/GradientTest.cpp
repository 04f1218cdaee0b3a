// The whole training step's gradients against finite differences of its loss, in float64.
#include "test/passes/Interpreter/TinyModels.h"
#include <gtest/gtest.h>
#include <random>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
/// Slope of the loss along `direction` of one parameter, by central differences.
double slope(Interpreter &runner, const std::string &name, const HostTensor &at, const HostTensor &direction,
             const Batch &batch) {
  constexpr double step = 1e-5;
  double loss[2];
  for (int side : {0, 1}) {
    HostTensor moved = at;
    for (int64_t i = 0; i < moved.size(); ++i)
      moved[i] += (side ? step : -step) * direction[i];
    EXPECT_TRUE(runner.setState(SlotKind::Param, name, moved));
    loss[side] = *runner.evaluate(batch);
  }
  runner.setState(SlotKind::Param, name, at);
  return (loss[1] - loss[0]) / (2 * step);
}

/// Every parameter, along a random direction and along one element.
void expectGradients(const char *model) {
  Program program = compile(recipeFor(model, 4), 2);
  ASSERT_TRUE(program.step);
  Batch batch = randomBatch(2, 2, 5, 11, 3);
  Interpreter trained(program.step), fresh(program.step);
  trained.initialize(7);
  fresh.initialize(7);
  ASSERT_TRUE(mlir::succeeded(trained.train(batch)));
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  ASSERT_GE(fresh.parameters().size(), 16u);
  for (const std::string &name : fresh.parameters()) {
    SCOPED_TRACE(name);
    HostTensor at = *fresh.state(SlotKind::Param, name), gradient = *trained.gradient(name);
    HostTensor direction(at.shape), element(at.shape);
    element[random() % element.size()] = 1;
    for (double &x : direction.data)
      x = normal(random);
    for (const HostTensor &along : {direction, element}) {
      double expected = slope(fresh, name, at, along, batch), found = 0;
      for (int64_t i = 0; i < along.size(); ++i)
        found += gradient[i] * along[i];
      EXPECT_NEAR(found, expected, 1e-7 + 1e-6 * std::abs(expected));
    }
  }
}
} // namespace

TEST(Gradient, TinyGptAgreesWithFiniteDifferences) { expectGradients(tinyGpt); }
TEST(Gradient, TinyLlamaAgreesWithFiniteDifferences) { expectGradients(tinyLlama); }

TEST(Gradient, ElementwiseBodyIsDifferentiated) {
  std::string text = tinyGpt;
  size_t at = text.find("%f = gelu %f1 : tensor<?x5x16xf32> -> tensor<?x5x16xf32>");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find('\n', at) - at,
               R"mlir(%f = elementwise "softsquare" %f1 : tensor<?x5x16xf32> -> tensor<?x5x16xf32> {
  ^bb0(%z: f32):
    %one = arith.constant 1.0 : f32
    %square = arith.mulf %z, %z : f32
    %below = arith.addf %square, %one : f32
    %value = arith.divf %square, %below : f32
    return %value : f32
  })mlir");
  expectGradients(text.c_str());
}
