// Elementwise ops, and chains of them with repeated operands, at even and odd sizes.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
const std::vector<std::vector<int64_t>> shapes = {{1},          {3},         {2, 3},  {5, 32},
                                                  {4, 64, 768}, {2, 7, 129}, {25129}, {3, 50257}};

TEST(Element, OneOperand) {
  for (const char *op : {"gelu", "silu"})
    for (const auto &shape : shapes) {
      std::string type = tensor(shape);
      checkKernel(
          formatv("func.func private @k(%x: {1}) -> {1} {{ %y = nn.{0} %x : {1} -> {1}\n return %y : {1} }", op, type));
    }
}

TEST(Element, RepeatedOperand) {
  for (const char *op : {"add", "mul"})
    for (const auto &shape : shapes) {
      std::string type = tensor(shape), bias = tensor({shape.back()});
      checkKernel(formatv("func.func private @k(%x: {1}, %b: {2}) -> {1} {{\n"
                          "%y = nn.{0} %x, %b : {1}, {2} -> {1}\n return %y : {1} }",
                          op, type, bias));
    }
}

TEST(Element, ChainWithTwoBiases) {
  checkKernel(
      "func.func private @k(%x: tensor<2x5x6x7xf32>, %b: tensor<6x7xf32>, %c: tensor<7xf32>) -> (tensor<2x5x6x7xf32>, "
      "tensor<2x5x6x7xf32>) {\n"
      "%0 = nn.add %x, %b : tensor<2x5x6x7xf32>, tensor<6x7xf32> -> tensor<2x5x6x7xf32>\n"
      "%1 = nn.gelu %0 : tensor<2x5x6x7xf32> -> tensor<2x5x6x7xf32>\n"
      "%2 = nn.mul %1, %c : tensor<2x5x6x7xf32>, tensor<7xf32> -> tensor<2x5x6x7xf32>\n"
      "return %0, %2 : tensor<2x5x6x7xf32>, tensor<2x5x6x7xf32> }");
}

TEST(Element, UserFunction) {
  for (const auto &shape : shapes) {
    std::string type = tensor(shape);
    checkKernel(formatv("func.func private @k(%x: {0}, %s: tensor<f32>) -> ({0}, {0}) {{\n"
                        "%y, %z = nn.elementwise %x, %s : {0}, tensor<f32> -> {0}, {0} {{\n"
                        "^bb0(%a: f32, %b: f32):\n %0 = arith.mulf %a, %b : f32\n %1 = math.tanh %0 : f32\n"
                        "%2 = math.exp %1 : f32\n %3 = arith.addf %2, %0 : f32\n return %3, %1 : f32, f32 }\n"
                        "return %y, %z : {0}, {0} }",
                        type));
  }
}

TEST(Element, AdamW) {
  for (const auto &shape : shapes) {
    std::string type = tensor(shape);
    std::string text = formatv("func.func private @k(%p: {0}, %g: {0}, %m: {0}, %v: {0}, %r: tensor<f32>, %c: "
                               "tensor<f32>, %t: tensor<i64>) -> ({0}, {0}, {0}) "
                               "{{\n%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %t (betas = [0.9, 0.95], "
                               "eps = 1e-8, weight_decay = 0.1, lr_scale = "
                               "0.5) : {0}, {0}, {0}, {0}, tensor<f32>, tensor<f32>, tensor<i64> -> {0}, {0}, {0}\n "
                               "return %a, %b, %d : {0}, {0}, {0} }",
                               type);
    Kernels kernels(text);
    ASSERT_TRUE(kernels.compiled());
    auto inputs = randomInputs(kernels.function("k"), Check{.positive = true});
    inputs[6] = HostBuffer(inputs[6].type, HostTensor({}, 3));
    auto expected = kernels.reference("k", inputs);
    auto apart = kernels.run("k", inputs), inPlace = kernels.run("k", inputs, {}, 3, {0, 0, 1, 2, 2, 3});
    EXPECT_TRUE(apart == inPlace);
    for (int i = 0; i < 3; ++i)
      EXPECT_LE(relativeError(apart[i].values(), expected[i]), 1e-6);
  }
}

TEST(Element, LearningRate) {
  std::string text =
      "func.func private @k(%t: tensor<i64>) -> tensor<f32> {\n"
      "%r = nn.cosine_rate %t cosine(peak = 1e-3, warmup = 20, decay = 1000, floor = 1e-4) : tensor<i64> -> "
      "tensor<f32>\nreturn %r : tensor<f32> }";
  Kernels kernels(text);
  ASSERT_TRUE(kernels.compiled());
  for (int64_t step : {1, 19, 20, 21, 500, 1000, 2000}) {
    auto type = mlir::cast<mlir::RankedTensorType>(kernels.function("k").getArgumentTypes()[0]);
    std::vector<HostBuffer> inputs = {HostBuffer(type, HostTensor({}, double(step)))};
    EXPECT_LE(relativeError(kernels.run("k", inputs)[0].values(), kernels.reference("k", inputs)[0]), 1e-6) << step;
  }
}
} // namespace
