// What a router decides, written out by hand: who is chosen, who finds place, and how far from another choice it was.
#include "dialect/NN/Router.h"
#include "test/dialect/NN/OpCase.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
/// A sequence of 4 tokens, 3 experts, top 1, two places each.
std::vector<HostTensor> route(const std::vector<double> &logits, const std::vector<double> &positions,
                              std::string options = "", int64_t capacity = 2) {
  std::string places = "tensor<1x3x" + std::to_string(capacity) + "xi32>";
  OpCase each{"by_hand", "%l: tensor<1x4x3xf32>, %p: tensor<1x4xi32>",
              "%w, %s, %t, %b = nn.router %l at %p top 1 " + options +
                  " : tensor<1x4x3xf32>, tensor<1x4xi32> -> tensor<1x4x1xf32>, tensor<1x4x1xi32>, " + places +
                  ", tensor<1xf32>"};
  Program program(each);
  HostTensor l({1, 4, 3}), p({1, 4});
  l.data = logits, p.data = positions;
  return evaluate(program.op(), {l, p}, resultShapes(program.op()));
}
const std::vector<double> allToOne{5, 1, 0, 5, 1, 0, 5, 1, 0, 0, 1, 5}; // experts 0, 0, 0, 2
} // namespace

TEST(Router, GivesPlacesInOrderOfPosition) {
  std::vector<HostTensor> straight = route(allToOne, {0, 1, 2, 3});
  EXPECT_EQ(straight[1].data, (std::vector<double>{0, 1, -1, 4})); // expert * 2 + place; the third finds none
  EXPECT_EQ(straight[2].data, (std::vector<double>{0, 1, -1, -1, 3, -1}));
  // The same tokens lying in another order: those at positions 0 and 1 find place, wherever they lie.
  std::vector<HostTensor> zigzag = route(allToOne, {2, 0, 1, 3});
  EXPECT_EQ(zigzag[1].data, (std::vector<double>{-1, 0, 1, 4}));
  EXPECT_EQ(zigzag[2].data, (std::vector<double>{1, 2, -1, -1, 3, -1}));
}

TEST(Router, TiesGoToTheLowerExpert) {
  std::vector<HostTensor> tied = route({1, 1, 1, 0, 2, 2, 3, 0, 3, 0, 0, 0}, {0, 1, 2, 3}, "", 4);
  EXPECT_EQ(tied[1].data, (std::vector<double>{0, 4, 1, 2}));
}

TEST(Router, LoadIsOneWhereAllIsEven) {
  // Three tokens spread evenly would be an even load, E * sum f p = 1 for each token: here all scores are 1/3.
  std::vector<HostTensor> even = route(std::vector<double>(12, 0), {0, 1, 2, 3}, "balance(0.5)", 4);
  EXPECT_NEAR(even[3][0], 0.5 * 3 * (1.0 * 4 / 3), 1e-15); // f = (1, 0, 0), p = 4/3 each
  double sum = std::exp(5) + std::exp(1) + 1, high = std::exp(5) / sum, low = 1 / sum;
  std::vector<HostTensor> uneven = route(allToOne, {0, 1, 2, 3}, "balance(1.0)");
  EXPECT_NEAR(uneven[3][0], 3 * (0.75 * (3 * high + low) + 0.25 * (3 * low + high)), 1e-12);
}

TEST(Router, WeightsAreScores) {
  double sum = std::exp(5) + std::exp(1) + 1;
  EXPECT_NEAR(route(allToOne, {0, 1, 2, 3})[0][0], std::exp(5) / sum, 1e-15);
  EXPECT_NEAR(route(allToOne, {0, 1, 2, 3}, "sigmoid")[0][0], 1 / (1 + std::exp(-5)), 1e-15);
  EXPECT_NEAR(route(allToOne, {0, 1, 2, 3}, "normalized scale(2.5)")[0][0], 2.5, 1e-15);
}

TEST(Router, MarginIsTheSmallestStepToAnotherChoice) {
  HostTensor logits({1, 2, 4});
  logits.data = {3, 1, 2.5, 0, 1, 1, 0, 0.25};
  EXPECT_EQ(routerMargin(logits, 1), 0);    // the second row's first two are equal
  EXPECT_EQ(routerMargin(logits, 2), 0.75); // 1 against 0.25; the first row: 2.5 against 1
  EXPECT_EQ(routerMargin(logits, 4), std::numeric_limits<double>::infinity());
}

TEST(Router, CapacityIsRoundedUpAndNoFurther) {
  EXPECT_EQ(expertCapacity(2, 128, 1.25, 8), 40);
  EXPECT_EQ(expertCapacity(2, 128, 1.1, 8), 36); // 35.2
  EXPECT_EQ(expertCapacity(1, 30, 1.1, 3), 11);  // 11.000000000000002 as doubles go
  EXPECT_EQ(expertCapacity(8, 4096, 1.0, 256), 128);
  EXPECT_EQ(expertCapacity(1, 4, 0.1, 8), 1);
}
