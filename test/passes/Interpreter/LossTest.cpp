// The loss is the mean over counted tokens of the whole step, however the step is cut.
#include "passes/Interpreter/Comparison.h"
#include "test/passes/Interpreter/TinyModels.h"
#include <cmath>
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
/// The same sequences, cut into another number of microbatches.
Batch recut(const Batch &batch, int64_t microbatches) {
  Batch result = batch;
  for (HostTensor *tensor : {&result.tokens, &result.labels})
    tensor->shape = {microbatches, batch.tokens.shape[0] * batch.tokens.shape[1] / microbatches, batch.tokens.shape[2]};
  return result;
}
} // namespace

// L01: microbatch A has one token of loss 1, B three of loss 3: (1 + 9) / 4, not the mean of means 2.
TEST(Loss, IsTheMeanOverTokensNotOfMeans) {
  Program program = compile(recipeFor(tableModel, 2), 2);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  int64_t tableShape[] = {2, 2}, shape[] = {2, 1, 3};
  HostTensor table(tableShape);
  table[1] = std::log(std::exp(1.0) - 1); // -log softmax of label 0 is 1 in row 0 and 3 in row 1
  table[3] = std::log(std::exp(3.0) - 1);
  ASSERT_TRUE(runner.setState(SlotKind::Param, "table", table));
  Batch batch{HostTensor(shape), HostTensor(shape), {}};
  batch.tokens.data = {0, 0, 0, 1, 1, 1};
  batch.labels.data = {0, -1, -1, 0, 0, 0};
  auto result = runner.train(batch);
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_NEAR(result->loss, 2.5, 1e-12);
  EXPECT_EQ(result->tokens, 4);
}

// L02: any partition of the same tokens over microbatches gives the same loss and gradients.
TEST(Loss, DoesNotDependOnMicrobatches) {
  Batch batch = randomBatch(4, 1, 5, 11, 5);
  Program one = compile(recipeFor(tinyGpt, 4), 1), four = compile(recipeFor(tinyGpt, 4), 4);
  ASSERT_TRUE(one.step && four.step);
  Interpreter a(one.step), b(four.step);
  a.initialize(7);
  b.initialize(7);
  auto resultA = a.train(recut(batch, 1)), resultB = b.train(batch);
  ASSERT_TRUE(mlir::succeeded(resultA) && mlir::succeeded(resultB));
  EXPECT_NEAR(resultA->loss, resultB->loss, 1e-12);
  auto differences = compare(a, b);
  ASSERT_TRUE(mlir::succeeded(differences));
  for (const TensorDifference &difference : *differences)
    EXPECT_LT(difference.relative, 1e-10) << difference.name;
}

TEST(Loss, WithoutACountedTokenIsZeroAndMovesNothingButDecay) {
  Program program = compile(recipeFor(tableModel, 2), 1);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  int64_t shape[] = {1, 2, 3};
  auto result = runner.train({HostTensor(shape), HostTensor(shape, -1)});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ(result->loss, 0);
  EXPECT_EQ(result->gradNorm, 0);
  EXPECT_EQ(runner.state(SlotKind::Param, "table")->data, std::vector<double>(4, 0.0));
}

TEST(Loss, OfEvaluateIsThatOfTheForward) {
  Program program = compile(recipeFor(tinyLlama, 4), 2);
  ASSERT_TRUE(program.step);
  Interpreter runner(program.step);
  runner.initialize(7);
  Batch batch = randomBatch(2, 2, 5, 11, 9);
  auto before = runner.evaluate(batch);
  auto trained = runner.train(batch);
  auto after = runner.evaluate(batch);
  ASSERT_TRUE(mlir::succeeded(before) && mlir::succeeded(trained) && mlir::succeeded(after));
  EXPECT_DOUBLE_EQ(*before, trained->loss); // a quotient there, a product with 1 / count here
  EXPECT_LT(*after, *before);
}

TEST(Loss, TakenApartIsTheSame) {
  Program whole = compile(recipeFor(tinyGpt, 4), 2, /*decomposeLoss=*/false), parts = compile(recipeFor(tinyGpt, 4), 2);
  ASSERT_TRUE(whole.step && parts.step);
  Interpreter a(whole.step), b(parts.step);
  a.initialize(7);
  b.initialize(7);
  Batch batch = randomBatch(2, 2, 5, 11, 4);
  auto resultA = a.train(batch), resultB = b.train(batch);
  ASSERT_TRUE(mlir::succeeded(resultA) && mlir::succeeded(resultB));
  EXPECT_NEAR(resultA->loss, resultB->loss, 1e-13);
  auto differences = compare(a, b);
  ASSERT_TRUE(mlir::succeeded(differences));
  for (const TensorDifference &difference : *differences)
    EXPECT_LT(difference.relative, 1e-11) << difference.name;
}

TEST(Loss, InFloat32IsCloseToFloat64AndRounded) {
  Program program = compile(recipeFor(tinyGpt, 4), 2);
  ASSERT_TRUE(program.step);
  Interpreter exact(program.step), rounded(program.step, {}, nullptr, {}, Precision::Float32);
  exact.initialize(7);
  rounded.initialize(7);
  Batch batch = randomBatch(2, 2, 5, 11, 4);
  auto a = exact.train(batch), b = rounded.train(batch);
  ASSERT_TRUE(mlir::succeeded(a) && mlir::succeeded(b));
  EXPECT_NE(a->loss, b->loss);
  EXPECT_NEAR(a->loss, b->loss, 1e-5 * a->loss);
  EXPECT_EQ(b->loss, static_cast<float>(b->loss));
  auto differences = compare(exact, rounded);
  ASSERT_TRUE(mlir::succeeded(differences));
  for (const TensorDifference &difference : *differences)
    if (difference.name.find("gradient") == 0 && difference.reference > 1e-3)
      EXPECT_LT(difference.relative, 1e-4) << difference.name;
}
