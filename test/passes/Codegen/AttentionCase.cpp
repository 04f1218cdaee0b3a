// See AttentionCase.h.
#include "AttentionCase.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
using llvm::formatv;

namespace hocket::codegen::testing {
namespace {
std::string queryType(const AttentionCase &c, int64_t width, const char *element) {
  return c.grouped ? tensor({c.b, c.s, c.kv, c.g, width}, element) : tensor({c.b, c.s, c.kv, width}, element);
}
} // namespace

AttentionTexts textsOf(const AttentionCase &c, const char *element) {
  const char *wide = c.narrowGrads ? element : "f32";
  std::string q = queryType(c, c.d, element), y = queryType(c, c.e, element),
              k = tensor({c.b, c.t, c.kv, c.d}, element), v = tensor({c.b, c.t, c.kv, c.e}, element);
  std::string dk = tensor({c.b, c.t, c.kv, c.d}, wide), dv = tensor({c.b, c.t, c.kv, c.e}, wide);
  std::string qp = tensor({c.b, c.s}, "i32"), kp = tensor({c.b, c.t}, "i32");
  std::string lse = c.grouped ? tensor({c.b, c.s, c.kv, c.g}) : tensor({c.b, c.s, c.kv});
  std::string documents = c.documents ? " documents %qc, %kc" : "",
              documentTypes = c.documents ? ", " + qp + ", " + kp : "";
  std::string arguments = c.documents ? ", %qc: " + qp + ", %kc: " + kp : "";
  std::string in = formatv("%q, %k, %v at %qp, %kp{6} {0} : {1}, {2}, {3}, {4}, {5}{7}", c.mask, q, k, v, qp, kp,
                           documents, documentTypes);
  AttentionTexts texts;
  texts.forward = formatv("func.func private @k(%q: {0}, %k: {1}, %v: {2}, %qp: {3}, %kp: {4}{8}) -> ({5}, {6}) {{\n"
                          "%y, %l = nn.attention {7} -> {5}, {6}\n return %y, %l : {5}, {6} }",
                          q, k, v, qp, kp, y, lse, in, arguments);
  texts.backward = formatv("func.func private @k(%dy: {5}, %q: {0}, %k: {1}, %v: {2}, %qp: {3}, %kp: {4}, %y: {5}, %l: "
                           "{6}{10}) -> ({0}, {8}, {9}) {{\n"
                           "%dq, %dk, %dv = nn.attention_grad %dy, %q, %k, %v at %qp, %kp, %y, %l{11} {7} : {5}, {0}, "
                           "{1}, {2}, {3}, {4}, {5}, {6}{12} -> "
                           "{0}, {8}, {9}\n return %dq, %dk, %dv : {0}, {8}, {9} }",
                           q, k, v, qp, kp, y, lse, c.mask, dk, dv, arguments, documents, documentTypes);
  return texts;
}

HostTensor positions(int64_t b, int64_t s, Order order) {
  HostTensor values({b, s});
  std::mt19937 random(5);
  for (int64_t batch = 0; batch < b; ++batch) {
    double *row = values.data.data() + batch * s;
    for (int64_t i = 0; i < s; ++i)
      row[i] = static_cast<double>(order == Order::Strided               ? i * 3
                                   : i < s / 2 || order != Order::Zigzag ? i
                                                                         : i + 3 * s);
    if (order == Order::Shuffled)
      std::shuffle(row, row + s, random);
  }
  return values;
}

HostTensor documents(int64_t b, int64_t s) {
  HostTensor values({b, s});
  for (int64_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i % s + 5) / 13);
  return values;
}

std::vector<HostBuffer> attentionInputs(mlir::func::FuncOp forward, const AttentionCase &c, Order order) {
  std::vector<HostBuffer> inputs = randomInputs(forward, {});
  inputs[3] = HostBuffer(inputs[3].type, positions(c.b, c.s, order));
  inputs[4] = HostBuffer(inputs[4].type, positions(c.b, c.t, order));
  if (c.documents) {
    inputs[5] = HostBuffer(inputs[5].type, documents(c.b, c.s));
    inputs[6] = HostBuffer(inputs[6].type, documents(c.b, c.t));
  }
  return inputs;
}
std::vector<HostBuffer> attentionGradInputs(mlir::func::FuncOp backward, const std::vector<HostBuffer> &inputs,
                                            const std::vector<HostBuffer> &results) {
  std::vector<HostBuffer> more = randomInputs(backward, {});
  std::copy(inputs.begin(), inputs.begin() + 5, more.begin() + 1);
  std::copy(inputs.begin() + 5, inputs.end(), more.begin() + 8);
  more[6] = results[0], more[7] = results[1];
  return more;
}

void checkAttention(const AttentionCase &c, const char *element, Order order) {
  double tolerance = reductionTolerance(element);
  AttentionTexts texts = textsOf(c, element);
  SCOPED_TRACE(texts.forward);
  Kernels forward(texts.forward), backward(texts.backward);
  ASSERT_TRUE(forward.compiled() && backward.compiled());
  auto inputs = attentionInputs(forward.function("k"), c, order);
  auto results = forward.run("k", inputs);
  auto expected = forward.reference("k", inputs);
  EXPECT_LE(relativeError(results[0].values(), expected[0]), tolerance);
  EXPECT_LE(relativeError(results[1].values(), expected[1]), 1e-5);
  if (forward.cutsWork())
    EXPECT_TRUE(forward.run("k", inputs, {}, 3) == results);
  auto more = attentionGradInputs(backward.function("k"), inputs, results);
  auto grads = backward.run("k", more);
  auto expectedGrads = backward.reference("k", more);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(relativeError(grads[i].values(), expectedGrads[i]), tolerance) << "gradient " << i;
    EXPECT_TRUE(grads[i].guardHolds());
  }
  if (backward.cutsWork())
    EXPECT_TRUE(backward.run("k", more, {}, 2) == grads);
}
} // namespace hocket::codegen::testing
