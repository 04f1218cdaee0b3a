// Attention, forward and backward: head sizes, lengths, masks, caps, grouped heads and documents that fit no block
// evenly.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
struct Case {
  int64_t b, s, t, kv, g, d, e;
  const char *mask;
  bool grouped = false, documents = false;
};
const std::vector<Case> cases = {
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

std::string qType(const Case &c, int64_t width, const char *element) {
  return c.grouped ? tensor({c.b, c.s, c.kv, c.g, width}, element) : tensor({c.b, c.s, c.kv, width}, element);
}
std::string lseType(const Case &c) { return c.grouped ? tensor({c.b, c.s, c.kv, c.g}) : tensor({c.b, c.s, c.kv}); }

struct Texts {
  std::string forward, both;
};
Texts textsOf(const Case &c, const char *element = "f32") {
  std::string q = qType(c, c.d, element), y = qType(c, c.e, element), k = tensor({c.b, c.t, c.kv, c.d}, element),
              v = tensor({c.b, c.t, c.kv, c.e}, element);
  // gradients of keys and values are sums over blocks of queries, kept in f32
  std::string dk = tensor({c.b, c.t, c.kv, c.d}), dv = tensor({c.b, c.t, c.kv, c.e});
  std::string qp = tensor({c.b, c.s}, "i32"), kp = tensor({c.b, c.t}, "i32"), lse = lseType(c);
  std::string documents = c.documents ? " documents %qc, %kc" : "",
              documentTypes = c.documents ? ", " + qp + ", " + kp : "";
  std::string arguments = c.documents ? ", %qc: " + qp + ", %kc: " + kp : "";
  std::string in = formatv("%q, %k, %v at %qp, %kp{6} {0} : {1}, {2}, {3}, {4}, {5}{7}", c.mask, q, k, v, qp, kp,
                           documents, documentTypes);
  Texts texts;
  texts.forward = formatv("func.func private @k(%q: {0}, %k: {1}, %v: {2}, %qp: {3}, %kp: {4}{8}) -> ({5}, {6}) {{\n"
                          "%y, %l = nn.attention {7} -> {5}, {6}\n return %y, %l : {5}, {6} }",
                          q, k, v, qp, kp, y, lse, in, arguments);
  texts.both = formatv("func.func private @k(%dy: {5}, %q: {0}, %k: {1}, %v: {2}, %qp: {3}, %kp: {4}, %y: {5}, %l: "
                       "{6}{10}) -> ({0}, {8}, {9}) {{\n"
                       "%dq, %dk, %dv = nn.attention_grad %dy, %q, %k, %v at %qp, %kp, %y, %l{11} {7} : {5}, {0}, {1}, "
                       "{2}, {3}, {4}, {5}, {6}{12} -> "
                       "{0}, {8}, {9}\n return %dq, %dk, %dv : {0}, {8}, {9} }",
                       q, k, v, qp, kp, y, lse, c.mask, dk, dv, arguments, documents, documentTypes);
  return texts;
}

/// Positions that rise from a row to the next, as a sequence's do; in context parallelism not one by one.
HostTensor positions(int64_t b, int64_t s, int64_t step) {
  HostTensor values({b, s});
  for (int64_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i % s * step);
  return values;
}

/// Documents of 13 tokens, the first in the middle of one: no block of 32 queries or 64 keys holds whole ones.
HostTensor documents(int64_t b, int64_t s) {
  HostTensor values({b, s});
  for (int64_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i % s + 5) / 13);
  return values;
}

void checkAttention(const Case &c, const char *element) {
  double tolerance = reductionTolerance(element);
  Texts texts = textsOf(c, element);
  SCOPED_TRACE(texts.forward);
  Kernels forward(texts.forward), backward(texts.both);
  ASSERT_TRUE(forward.compiled() && backward.compiled());
  for (int64_t step : {1, 3}) {
    auto inputs = randomInputs(forward.function("k"), {});
    inputs[3] = HostBuffer(inputs[3].type, positions(c.b, c.s, step));
    inputs[4] = HostBuffer(inputs[4].type, positions(c.b, c.t, step));
    if (c.documents) {
      inputs[5] = HostBuffer(inputs[5].type, documents(c.b, c.s));
      inputs[6] = HostBuffer(inputs[6].type, documents(c.b, c.t));
    }
    auto results = forward.run("k", inputs);
    auto expected = forward.reference("k", inputs);
    EXPECT_LE(relativeError(results[0].values(), expected[0]), tolerance);
    EXPECT_LE(relativeError(results[1].values(), expected[1]), 1e-5);
    EXPECT_TRUE(forward.run("k", inputs, {}, 3) == results);
    auto more = randomInputs(backward.function("k"), {});
    std::copy(inputs.begin(), inputs.begin() + 5, more.begin() + 1);
    std::copy(inputs.begin() + 5, inputs.end(), more.begin() + 8);
    more[6] = results[0], more[7] = results[1];
    auto grads = backward.run("k", more);
    auto expectedGrads = backward.reference("k", more);
    for (int i = 0; i < 3; ++i) {
      EXPECT_LE(relativeError(grads[i].values(), expectedGrads[i]), tolerance) << "gradient " << i;
      EXPECT_TRUE(grads[i].guardHolds());
    }
    EXPECT_TRUE(backward.run("k", more, {}, 2) == grads);
  }
}

TEST(Attention, ForwardAndBackward) {
  for (const Case &c : cases)
    checkAttention(c, "f32");
}

TEST(Attention, SixteenBits) {
  for (const char *element : {"bf16", "f16"})
    for (size_t i : {2, 3, 5})
      checkAttention(cases[i], element);
}

TEST(Attention, QueriesThatSeeNothing) {
  Case c{1, 40, 40, 1, 1, 8, 8, "causal scale(0.3)"};
  Texts texts = textsOf(c);
  Kernels forward(texts.forward), backward(texts.both);
  ASSERT_TRUE(forward.compiled() && backward.compiled());
  auto inputs = randomInputs(forward.function("k"), {});
  HostTensor late = positions(1, 40, 1);
  for (double &position : late.data)
    position += 10; // the first ten queries see no key
  inputs[3] = HostBuffer(inputs[3].type, positions(1, 40, 1));
  inputs[4] = HostBuffer(inputs[4].type, late);
  auto results = forward.run("k", inputs);
  auto expected = forward.reference("k", inputs);
  EXPECT_LE(relativeError(results[0].values(), expected[0]), 1e-5);
  EXPECT_LE(relativeError(results[1].values(), expected[1]), 1e-5);
  auto more = randomInputs(backward.function("k"), {});
  std::copy(inputs.begin(), inputs.end(), more.begin() + 1);
  more[6] = results[0], more[7] = results[1];
  auto grads = backward.run("k", more);
  auto expectedGrads = backward.reference("k", more);
  for (int i = 0; i < 3; ++i)
    EXPECT_LE(relativeError(grads[i].values(), expectedGrads[i]), 1e-5) << "gradient " << i;
}
} // namespace
