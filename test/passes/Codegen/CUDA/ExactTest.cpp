// Elementwise GPU kernels against the op's meaning in f64, rounded once: at most two numbers of the element type away,
// in every type and at odd and even sizes.
//
// Kernels compute in f32. Where an op adds terms that cancel (1 + tanh in gelu's tail), what is left is as exact as
// f32 is on the terms: then two units in the last place of an f32 as large as the terms are allowed instead. For add,
// mul, cast and silu there is no such allowance. The derivative of gelu, a chain of a dozen roundings, may be three
// away in f32.
#include "KernelTesting.h"
#include "dialect/NN/Rounding.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Comm/Half.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cmath>
using namespace mlir;
using namespace hocket;
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
const std::vector<std::vector<int64_t>> shapes = {{1}, {3}, {5, 32}, {2, 7, 129}, {4, 16, 768}, {25129}};
constexpr const char *elements[] = {"f32", "bf16", "f16"};

/// Numbers of a type in order: two that are neighbours differ by one.
int64_t place(Type element, double value) {
  auto single = static_cast<float>(nn::roundedTo(element, value));
  auto ordered = [](int64_t magnitude, bool negative) { return negative ? -magnitude : magnitude; };
  if (element.isF32()) {
    auto bits = std::bit_cast<uint32_t>(single);
    return ordered(bits & 0x7fffffff, bits >> 31);
  }
  uint16_t bits = element.isBF16() ? runtime::toBFloat16(single).bits : runtime::toFloat16(single).bits;
  return ordered(bits & 0x7fff, bits >> 15);
}
/// Two units in the last place of an f32 of this size.
double slack(double terms) { return 2 * (std::nextafter(float(terms), INFINITY) - float(terms)); }

/// How large the terms are that an op adds, from the operands of an element.
using Terms = std::function<double(llvm::ArrayRef<double> operands)>;

/// Checks kernel @k, whose ops are one; operands of as many elements as the result belong to its elements.
void checkExact(const std::string &text, const Terms &terms = nullptr, const Check &check = {}, int64_t most = 2) {
  SCOPED_TRACE(text);
  Kernels kernels(text);
  ASSERT_TRUE(kernels.compiled());
  auto inputs = randomInputs(kernels.function("k"), check);
  auto found = kernels.run("k", inputs, check.numbers);
  auto wanted = kernels.reference("k", inputs, check.numbers, /*exact=*/true);
  std::vector<HostTensor> operands;
  for (const HostBuffer &input : inputs)
    operands.push_back(input.values());
  for (size_t r = 0; r < found.size(); ++r) {
    HostTensor values = found[r].values();
    Type element = found[r].type.getElementType();
    int64_t worst = 0, at = 0;
    for (int64_t i = 0; i < values.size(); ++i) {
      std::vector<double> own;
      for (const HostTensor &operand : operands)
        own.push_back(operand[i % operand.size()]);
      int64_t apart = std::abs(place(element, values[i]) - place(element, wanted[r][i]));
      if (terms && std::fabs(values[i] - wanted[r][i]) <= slack(terms(own)))
        apart = 0;
      if (apart > worst)
        worst = apart, at = i;
    }
    EXPECT_LE(worst, most) << "result " << r << ", element " << at << ": " << values[at] << ", in f64 "
                           << wanted[r][at];
  }
}

TEST(Exact, OneOperand) {
  for (const char *element : elements)
    for (const auto &shape : shapes) {
      std::string x = tensor(shape, element);
      auto text = [&](const char *op) {
        return formatv("func.func private @k(%x: {1}) -> {1} {{ %y = nn.{0} %x : {1} -> {1}\n return %y : {1} }", op, x)
            .str();
      };
      checkExact(text("silu"));
      checkExact(text("gelu"), [](auto v) { return std::fabs(v[0]); });
    }
}

TEST(Exact, TwoOperands) {
  for (const char *op : {"add", "mul"})
    for (const char *element : elements)
      for (const auto &shape : shapes)
        for (const auto &other : {shape, std::vector<int64_t>{shape.back()}})
          checkExact(formatv("func.func private @k(%x: {1}, %b: {2}) -> {1} {{\n"
                             "%y = nn.{0} %x, %b : {1}, {2} -> {1}\n return %y : {1} }",
                             op, tensor(shape, element), tensor(other, element)));
}

TEST(Exact, Casts) {
  for (const char *from : elements)
    for (const char *to : elements)
      for (const auto &shape : shapes)
        if (from != to)
          checkExact(formatv("func.func private @k(%x: {0}) -> {1} {{ %y = nn.cast %x : {0} -> {1}\n return %y : {1} }",
                             tensor(shape, from), tensor(shape, to)));
}

/// The derivative of a unary op as autodiff writes it, as kernel @k(dy, x).
std::string gradientOf(const char *op, const std::string &type) {
  MLIRContext context;
  context.loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  std::string text = formatv("func.func private @k(%d: {1}, %x: {1}) -> {1} {{ %y = nn.{0} %x : {1} -> {1}\n"
                             "return %d : {1} }",
                             op, type);
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto function = module->lookupSymbol<func::FuncOp>("k");
  Operation *forward = &function.getBody().front().front();
  OpBuilder builder(function.getBody().front().getTerminator());
  SmallVector<Value> grads(1);
  cast<nn::DifferentiableOpInterface>(forward).buildGradient(builder, {function.getArgument(0)}, BitVector(1, true),
                                                             grads);
  function.getBody().front().getTerminator()->setOperand(0, grads[0]);
  forward->erase();
  std::string made;
  llvm::raw_string_ostream stream(made);
  function.print(stream);
  return made;
}

TEST(Exact, Gradients) {
  for (const char *element : elements)
    for (const auto &shape : shapes) {
      std::string type = tensor(shape, element);
      auto slope = [](auto v) { return std::fabs(v[0]) * (1 + std::fabs(v[1])); };
      checkExact(gradientOf("silu", type), slope);
      checkExact(gradientOf("gelu", type), slope, {}, element == std::string("f32") ? 3 : 2);
    }
}

TEST(Exact, UserFunction) {
  for (const char *element : elements)
    for (const auto &shape : shapes)
      checkExact(formatv("func.func private @k(%x: {0}, %s: {1}) -> ({0}, {0}) {{\n"
                         "%y, %z = nn.elementwise %x, %s : {0}, {1} -> {0}, {0} {{\n"
                         "^bb0(%a: f32, %b: f32):\n %0 = arith.mulf %a, %b : f32\n %1 = math.tanh %a : f32\n"
                         "%2 = math.exp %1 : f32\n return %2, %0 : f32, f32 }\n return %y, %z : {0}, {0} }",
                         tensor(shape, element), tensor({}, element)));
}

TEST(Exact, AdamW) {
  for (const char *element : elements)
    for (const auto &shape : shapes) {
      std::string p = tensor(shape, element);
      std::string text =
          formatv("func.func private @k(%p: {0}, %g: {0}, %m: {0}, %v: {0}, %r: tensor<f32>, %c: tensor<f32>, "
                  "%t: tensor<i64>) -> ({0}, {0}, {0}) {{\n"
                  "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %t (betas = [0.9, 0.95], eps = 1e-8, "
                  "weight_decay = 0.1, lr_scale = 0.5) : {0}, {0}, {0}, {0}, tensor<f32>, tensor<f32>, tensor<i64> -> "
                  "{0}, {0}, {0}\n return %a, %b, %d : {0}, {0}, {0} }",
                  p);
      // what a rate of at most 1 adds: the decay and a direction, which is m / sqrt(v) with corrections
      auto terms = [](auto v) {
        return std::fabs(v[0]) + std::fabs(v[4]) * (0.1 * std::fabs(v[0]) + 10 * (std::fabs(v[2]) + std::fabs(v[1])) /
                                                                                std::sqrt(v[3] + v[1] * v[1]));
      };
      checkExact(text, terms, Check{.ids = 9, .positive = true});
    }
}
} // namespace
