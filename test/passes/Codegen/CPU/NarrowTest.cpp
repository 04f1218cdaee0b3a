// Kernels on bf16 and f16: conversions bit for bit on every CPU; elementwise results next to the reference, rounded;
// reductions and moves in any mixture of types.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::cpu::testing;
using llvm::formatv;

namespace {
const std::vector<std::vector<int64_t>> shapes = {{3}, {5, 32}, {2, 7, 129}, {4, 16, 768}};
constexpr const char *narrow[] = {"bf16", "f16"};

TEST(Narrow, Elementwise) {
  Check next{.elementwise = true};
  for (const char *element : narrow)
    for (const auto &shape : shapes) {
      std::string x = tensor(shape, element), b = tensor({shape.back()}, element);
      for (const char *op : {"gelu", "silu"})
        checkKernel(
            formatv("func.func private @k(%x: {1}) -> {1} {{ %y = nn.{0} %x : {1} -> {1}\n return %y : {1} }", op, x),
            next);
      for (const char *op : {"add", "mul"})
        checkKernel(formatv("func.func private @k(%x: {1}, %b: {2}) -> {1} {{\n"
                            "%y = nn.{0} %x, %b : {1}, {2} -> {1}\n return %y : {1} }",
                            op, x, b),
                    next);
    }
}

TEST(Narrow, Norms) {
  for (const char *element : narrow)
    for (const auto &shape : shapes) {
      std::string x = tensor(shape, element), g = tensor({shape.back()}, element);
      Check close{reductionTolerance(element)};
      checkKernel(formatv("func.func private @k(%x: {0}, %g: {1}, %b: {1}) -> ({0}, {0}) {{\n"
                          "%y = nn.layer_norm %x, %g, %b : {0}, {1}, {1} -> {0}\n"
                          "%z = nn.rms_norm %x, %g : {0}, {1} -> {0}\n return %y, %z : {0}, {0} }",
                          x, g),
                  close);
      checkKernel(formatv("func.func private @k(%d: {0}, %x: {0}, %g: {1}) -> ({0}, {0}) {{\n"
                          "%y = nn.layer_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n"
                          "%z = nn.rms_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n return %y, %z : {0}, {0} }",
                          x, g),
                  close);
    }
}

TEST(Narrow, Moves) {
  for (const char *element : narrow)
    for (int64_t side : {3, 40}) {
      std::string all = tensor({4, 5, 3, side}, element), one = tensor({4, 5, side}, element);
      checkKernel(
          formatv("func.func private @k(%x: {0}) -> ({1}, {1}, {1}) {{\n"
                  "%a, %b, %c = nn.unstack %x dim 2 : {0} -> {1}, {1}, {1}\n return %a, %b, %c : {1}, {1}, {1} }",
                  all, one),
          {0});
      checkKernel(formatv("func.func private @k(%a: {1}, %b: {1}, %c: {1}) -> {0} {{\n"
                          "%x = nn.stack %a, %b, %c dim 2 : {1}, {1}, {1} -> {0}\n return %x : {0} }",
                          all, one),
                  {0});
      std::string x = tensor({2, 7, side}, element), part = tensor({2, 3, side}, element),
                  packed = tensor({4, 2, 2, side}, element);
      checkKernel(formatv("func.func private @k(%x: {0}, %o: i64) -> {1} {{\n"
                          "%y = step.slice %x dim 1 offset %o : {0} -> {1}\n return %y : {1} }",
                          x, part),
                  {0, {5}});
      checkKernel(formatv("func.func private @k(%x: {0}, %e: i64) -> {0} {{\n"
                          "%y = step.mask %x dim 1 extent %e with -3.5 : {0} -> {0}\n return %y : {0} }",
                          x),
                  {0, {4}});
      checkKernel(formatv("func.func private @k(%x: {0}) -> {1} {{\n"
                          "%y = step.pack %x dim 1 pieces 4 : {0} -> {1}\n return %y : {1} }",
                          x, packed),
                  {0});
      checkKernel(formatv("func.func private @k(%x: {1}) -> {0} {{\n"
                          "%y = step.unpack %x dim 1 : {1} -> {0}\n return %y : {0} }",
                          x, packed),
                  {0});
    }
}

TEST(Narrow, Rope) {
  for (const char *element : narrow)
    for (const char *form : {"", "dims(6) interleaved"}) {
      std::string x = tensor({2, 5, 3, 70}, element), p = tensor({2, 5}, "i32");
      checkKernel(formatv("func.func private @k(%x: {0}, %p: {1}) -> {0} {{\n"
                          "%y = nn.rope %x at %p {2} : {0}, {1} -> {0}\n return %y : {0} }",
                          x, p, form),
                  Check{.ids = 100000, .elementwise = true});
    }
}
} // namespace
