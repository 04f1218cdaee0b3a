// What only GPU kernels have: forms for rows of every length (parts of a warp, a warp, a block, a row read again), and
// results on operands while other threads still read.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
/// Columns of 1, 2, 4 and 8 elements a piece; the last two are read again in each loop.
const int64_t columns[] = {24, 250, 1000, 4100, 12288, 50304, 50257};

TEST(RowForms, EveryLength) {
  for (int64_t length : columns)
    for (const char *element : {"f32", length == 1000 ? "f16" : "bf16"}) {
      std::string x = tensor({3, length}, element), g = tensor({length}, element);
      Check close{reductionTolerance(element)};
      checkKernel(formatv("func.func private @k(%r: {0}, %x: {0}, %g: {1}, %b: {1}) -> ({0}, {0}) {{\n"
                          "%s = nn.add %r, %x : {0}, {0} -> {0}\n"
                          "%y = nn.layer_norm %s, %g, %b : {0}, {1}, {1} -> {0}\n return %s, %y : {0}, {0} }",
                          x, g),
                  close);
      checkKernel(formatv("func.func private @k(%d: {0}, %x: {0}, %g: {1}, %r: {0}) -> {0} {{\n"
                          "%y = nn.layer_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n"
                          "%z = nn.add %y, %r : {0}, {0} -> {0}\n return %z : {0} }",
                          x, g),
                  close);
    }
}

TEST(RowForms, LossAndGradientInOneKernel) {
  for (int64_t length : {7, 1000, 50304})
    for (const char *element : {"f32", "bf16"})
      checkKernel(
          formatv("func.func private @k(%x: {0}, %i: {2}, %d: tensor<f32>) -> ({1}, {0}) {{\n"
                  "%m = nn.row_max %x : {0} -> {1}\n %s = nn.row_sum_exp %x, %m : {0}, {1} -> {1}\n"
                  "%l = nn.elementwise %m, %s : {1}, {1} -> {1} {{\n^bb0(%a: f32, %b: f32):\n %0 = math.log %b : "
                  "f32\n%1 = arith.addf %a, %0 : f32\n return %1 : f32 }\n"
                  "%y = nn.cross_entropy_grad %d, %x, %i, %l : tensor<f32>, {0}, {2}, {1} -> {0}\n"
                  "return %l, %y : {1}, {0} }",
                  tensor({1, 3, length}, element), tensor({1, 3}), tensor({1, 3}, "i32")),
          {reductionTolerance(element), {}, length});
}

// The checker of the emulator would report a thread that reads what another has already overwritten.
TEST(RowForms, ResultsOnOperands) {
  for (int64_t rows : {3, 8})
    for (int64_t length : {24, 1000, 20001}) {
      std::string x = tensor({1, rows, length}), g = tensor({length}), r = tensor({1, rows}),
                  i = tensor({1, rows}, "i32");
      Kernels sums(
          formatv("func.func private @k(%r: {0}, %x: {0}, %g: {1}) -> ({0}, {0}) attributes {{hocket.in_place = "
                  "array<i64: 0, 0>} {{\n %s = nn.add %r, %x : {0}, {0} -> {0}\n"
                  "%y = nn.rms_norm %s, %g : {0}, {1} -> {0}\n return %s, %y : {0}, {0} }",
                  x, g));
      ASSERT_TRUE(sums.compiled());
      auto inputs = randomInputs(sums.function("k"), {});
      EXPECT_TRUE(sums.run("k", inputs) == sums.run("k", inputs, {}, 1, {0, 0})) << rows << " x " << length;

      Kernels loss(formatv("func.func private @k(%d: tensor<f32>, %x: {0}, %i: {2}, %l: {1}) -> ({0}, {1}) attributes "
                           "{{hocket.in_place = array<i64: 0, 1, 1, 3>} {{\n"
                           "%y = nn.cross_entropy_grad %d, %x, %i, %l : tensor<f32>, {0}, {2}, {1} -> {0}\n"
                           "%p = nn.pick %x, %i : {0}, {2} -> {1}\n %q = nn.add %p, %l : {1}, {1} -> {1}\n"
                           "return %y, %q : {0}, {1} }",
                           x, r, i));
      ASSERT_TRUE(loss.compiled());
      inputs = randomInputs(loss.function("k"), {.ids = length});
      EXPECT_TRUE(loss.run("k", inputs) == loss.run("k", inputs, {}, 1, {0, 1, 1, 3})) << rows << " x " << length;
    }
}

// A sum down the columns whose summands lie on an operand: threads beyond the last column read none of them.
TEST(RowForms, ColumnSumsWorkInPlace) {
  for (int64_t columns : {48, 256, 264, 7})
    for (int64_t rows : {1, 6, 70}) {
      std::string x = tensor({rows, columns}), g = tensor({columns});
      Kernels kernels(formatv("func.func private @k(%a: {0}, %x: {0}) -> ({0}, {1}) attributes {{hocket.in_place = "
                              "array<i64: 0, 0>} {{\n %y = nn.mul %a, %x : {0}, {0} -> {0}\n"
                              "%s = nn.sum %y : {0} -> {1}\n return %y, %s : {0}, {1} }",
                              x, g));
      ASSERT_TRUE(kernels.compiled());
      auto inputs = randomInputs(kernels.function("k"), {});
      EXPECT_TRUE(kernels.run("k", inputs) == kernels.run("k", inputs, {}, 1, {0, 0})) << rows << " x " << columns;
    }
}
} // namespace
