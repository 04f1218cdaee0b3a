// Gradients of a mixture of experts, the routers' load among the loss, against finite differences of the training
// step's loss.
#include "test/passes/Interpreter/TinyModels.h"
#include <gtest/gtest.h>
#include <random>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
const char *const entries = "capacity 1\nauxiliary_loss 0.7";

/// The loss of the first step, with one parameter moved along `direction`.
double lossAt(Program &program, const Batch &batch, const std::string &name, const HostTensor &direction, double step) {
  Interpreter runner(program.step);
  runner.initialize(7);
  HostTensor moved = *runner.state(SlotKind::Param, name);
  for (int64_t i = 0; i < moved.size(); ++i)
    moved[i] += step * direction[i];
  EXPECT_TRUE(runner.setState(SlotKind::Param, name, moved));
  auto made = runner.train(batch);
  EXPECT_TRUE(mlir::succeeded(made));
  return made->loss;
}

double lossOf(const std::string &extra, int64_t microbatches) {
  Program program = compile(recipeFor(tinyMoe, 4, extra), microbatches);
  EXPECT_TRUE(program.step);
  if (!program.step)
    return 0;
  Interpreter runner(program.step);
  runner.initialize(7);
  return runner.train(randomBatch(microbatches, 4 / microbatches, 5, 11, 3))->loss;
}
} // namespace

TEST(RouterLoad, GradientsAgreeWithFiniteDifferences) {
  constexpr double step = 1e-6;
  Program program = compile(recipeFor(tinyMoe, 4, entries), 2);
  ASSERT_TRUE(program.step);
  Batch batch = randomBatch(2, 2, 5, 11, 3);
  Interpreter trained(program.step);
  trained.initialize(7);
  ASSERT_TRUE(mlir::succeeded(trained.train(batch)));
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const std::string &name : trained.parameters()) {
    HostTensor gradient = *trained.gradient(name), direction(gradient.shape);
    double found = 0;
    for (int64_t i = 0; i < direction.size(); ++i)
      found += gradient[i] * (direction[i] = normal(random));
    double expected =
        (lossAt(program, batch, name, direction, step) - lossAt(program, batch, name, direction, -step)) / (2 * step);
    EXPECT_NEAR(found, expected, 1e-8 + 1e-6 * std::abs(expected)) << name;
  }
}

// The loss counts the load once for each token, so how a batch is cut does not change it; without the entry there is
// none.
TEST(RouterLoad, NoSplitOfABatchChangesTheLoss) {
  double with = lossOf(entries, 1), without = lossOf("capacity 1", 1);
  EXPECT_NEAR(lossOf(entries, 4), with, 1e-12 * with);
  EXPECT_NEAR(lossOf(entries, 2), with, 1e-12 * with);
  EXPECT_GT(with, without + 0.7); // of two layers; an even load is 1
  EXPECT_NEAR((with - without) * 2, lossOf("capacity 1\nauxiliary_loss 1.4", 1) - without, 1e-12);
}
