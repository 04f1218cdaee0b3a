// Attention, forward and backward: head sizes, lengths, masks, caps, grouped heads and documents that fit no block
// evenly.
#include "AttentionCase.h"
using namespace hocket::codegen::testing;

namespace {
const std::vector<AttentionCase> cases = {
    {1, 1, 1, 1, 1, 1, 1, "causal scale(0.5)"},
    {2, 64, 64, 3, 1, 64, 64, "causal scale(0.125)"},
    {1, 33, 70, 2, 1, 5, 7, "full scale(0.4)"},
    {1, 100, 100, 2, 3, 12, 20, "causal scale(0.3)", true},
    {2, 70, 70, 1, 2, 32, 32, "causal scale(0.2) window(9)", true},
    {1, 37, 37, 2, 1, 80, 80, "causal scale(0.2) softcap(1.5)"},
    {2, 150, 150, 1, 1, 9, 9, "causal scale(0.3)", false, true},
    {1, 40, 70, 1, 2, 5, 7, "full scale(0.3)", true, true},
    {1, 100, 100, 1, 1, 8, 8, "causal scale(0.3) window(20)", false, true},
};

TEST(Attention, ForwardAndBackward) {
  for (const AttentionCase &c : cases)
    for (Order order : {Order::Rising, Order::Strided})
      checkAttention(c, "f32", order);
}

TEST(Attention, SixteenBits) {
  for (const char *element : {"bf16", "f16"})
    for (size_t i : {2, 3, 5})
      for (Order order : {Order::Rising, Order::Strided})
        checkAttention(cases[i], element, order);
}

TEST(Attention, QueriesThatSeeNothing) {
  for (const char *element : {"f32", "bf16"}) {
    AttentionCase c{1, 40, 40, 1, 1, 8, 8, "causal scale(0.3)"};
    AttentionTexts texts = textsOf(c, element);
    Kernels forward(texts.forward), backward(texts.backward);
    ASSERT_TRUE(forward.compiled() && backward.compiled());
    auto inputs = attentionInputs(forward.function("k"), c, Order::Rising);
    HostTensor late = positions(1, 40, Order::Rising);
    for (double &position : late.data)
      position += 10; // the first ten queries see no key
    inputs[4] = HostBuffer(inputs[4].type, late);
    auto results = forward.run("k", inputs);
    auto expected = forward.reference("k", inputs);
    EXPECT_LE(relativeError(results[0].values(), expected[0]), reductionTolerance(element));
    EXPECT_LE(relativeError(results[1].values(), expected[1]), 1e-5);
    auto more = attentionGradInputs(backward.function("k"), inputs, results);
    auto grads = backward.run("k", more);
    auto expectedGrads = backward.reference("k", more);
    for (int i = 0; i < 3; ++i)
      EXPECT_LE(relativeError(grads[i].values(), expectedGrads[i]), reductionTolerance(element)) << "gradient " << i;
  }
}
} // namespace
