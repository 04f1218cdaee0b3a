// Elementwise GPU kernels against the op's meaning in f64, rounded once: at most two numbers of the element type away,
// in every type, at odd and even sizes and with no exception for terms that cancel (gelu's tail, the zeros of the
// derivatives, a parameter that its update takes to zero).
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

/// Checks kernel @k, whose ops are one, on random operands; `edit` may change them first.
void checkExact(const std::string &text, const Check &check = {},
                llvm::function_ref<void(std::vector<HostBuffer> &)> edit = nullptr) {
  SCOPED_TRACE(text);
  Kernels kernels(text);
  ASSERT_TRUE(kernels.compiled());
  auto inputs = randomInputs(kernels.function("k"), check);
  if (edit)
    edit(inputs);
  auto found = kernels.run("k", inputs, check.numbers);
  auto wanted = kernels.reference("k", inputs, check.numbers, /*exact=*/true);
  for (size_t r = 0; r < found.size(); ++r) {
    HostTensor values = found[r].values();
    Type element = found[r].type.getElementType();
    int64_t worst = 0, at = 0;
    for (int64_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(std::isfinite(wanted[r][i]));
      int64_t apart = std::abs(place(element, values[i]) - place(element, wanted[r][i]));
      if (apart > worst)
        worst = apart, at = i;
    }
    EXPECT_LE(worst, 2) << "result " << r << ", element " << at << ": " << values[at] << ", in f64 " << wanted[r][at];
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
      checkExact(text("gelu"));
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
      checkExact(gradientOf("silu", type));
      checkExact(gradientOf("gelu", type));
    }
}

/// Numbers from `from` to `to`, close to each other, as operand `index`.
void fill(std::vector<HostBuffer> &inputs, size_t index, double from, double to) {
  HostTensor values = inputs[index].values();
  for (int64_t i = 0; i < values.size(); ++i)
    values[i] = from + (to - from) * static_cast<double>(i) / static_cast<double>(values.size() - 1);
  inputs[index] = HostBuffer(inputs[index].type, values);
}

// Where random numbers of deviation 1 hardly come: tails, as far as gelu's meaning (1 + tanh) is exact in f64, and the
// derivatives' zeros.
TEST(Exact, ActivationsEverywhere) {
  for (const char *element : elements) {
    std::string x = tensor({20000}, element);
    for (auto [op, zero, far] : {std::tuple("gelu", -0.7517916, 5.0), std::tuple("silu", -1.2784645, 80.0)}) {
      std::string text =
          formatv("func.func private @k(%x: {1}) -> {1} {{ %y = nn.{0} %x : {1} -> {1}\n return %y : {1} }", op, x);
      checkExact(text, {}, [&, far = far](auto &inputs) { fill(inputs, 0, -far, far); });
      checkExact(gradientOf(op, x), {}, [&, far = far](auto &inputs) { fill(inputs, 1, -far, far); });
      for (double width : {1e-5, 1e-3, 0.5})
        checkExact(gradientOf(op, x), {},
                   [&, zero = zero](auto &inputs) { fill(inputs, 1, zero - width, zero + width); });
    }
  }
}

// Two turned terms may cancel.
TEST(Exact, Rope) {
  for (const char *element : elements)
    for (const char *inverse : {"", "inverse "})
      for (auto [size, how] : {std::pair(2, ""), std::pair(80, "dims(64)"), std::pair(128, "interleaved"),
                               std::pair(128, "theta(500000)"), std::pair(12, "position_scale(0.25)")}) {
        std::string text = formatv("func.func private @k(%x: {0}, %p: {1}) -> {0} {{\n"
                                   "%y = nn.rope {2}%x at %p {3} : {0}, {1} -> {0}\n return %y : {0} }",
                                   tensor({2, 50, 7, size}, element), tensor({2, 50}, "i32"), inverse, how);
        checkExact(text, {.ids = 5000});
      }
}

TEST(Exact, Dropout) {
  for (const char *element : elements)
    for (int64_t size : {1, 6, 129, 768})
      for (const char *rate : {"0.1", "0.75"}) {
        std::string x = tensor({3, 5, 4, size}, element);
        checkExact(formatv("func.func private @k(%x: {0}, %p: {1}, %d: {2}) -> {0} {{\n"
                           "%y = nn.dropout %x at %p rate({3}) draws %d of [4, {4}] stream \"h.1\" : {0}, {1}, {2} -> "
                           "{0}\n return %y : {0} }",
                           x, tensor({3, 5}, "i32"), tensor({3}, "i32"), rate, size),
                   {.ids = 100000});
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
      auto set = [](std::vector<HostBuffer> &inputs, size_t index, double value) {
        inputs[index] = HostBuffer(inputs[index].type, HostTensor(inputs[index].type.getShape(), value));
      };
      for (double step : {1, 7, 1000}) {
        checkExact(text, {.positive = true}, [&](auto &inputs) { set(inputs, 6, step); });
        // gradients of both signs, and parameters that the update takes close to zero
        if (shape.back() > 1)
          checkExact(text, {.positive = true}, [&](auto &inputs) {
            set(inputs, 6, step);
            fill(inputs, 1, -1, 1);
            fill(inputs, 0, -0.3, 0.3);
          });
      }
      // a parameter that never had a gradient
      checkExact(text, {.positive = true}, [&](auto &inputs) {
        set(inputs, 6, 1);
        for (size_t i : {1, 2, 3})
          set(inputs, i, 0);
      });
    }
}
} // namespace
