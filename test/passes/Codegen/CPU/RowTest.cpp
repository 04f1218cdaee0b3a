// Reductions along rows and down columns, norms, and the pieces of cross-entropy.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
const std::vector<std::vector<int64_t>> shapes = {{1, 1, 1},   {1, 3, 1},   {2, 1, 3},    {1, 5, 32},
                                                  {4, 8, 768}, {2, 7, 129}, {1, 2, 25129}};
std::vector<int64_t> rowsOf(const std::vector<int64_t> &shape) { return {shape.begin(), shape.end() - 1}; }

TEST(Row, Norms) {
  for (const auto &shape : shapes) {
    if (shape.back() == 1)
      continue; // a row of one has no deviation: its gradient is 0 / 0 without eps
    std::string x = tensor(shape), g = tensor({shape.back()});
    checkKernel(formatv("func.func private @k(%x: {0}, %g: {1}, %b: {1}) -> {0} {{\n"
                        "%y = nn.layer_norm %x, %g, %b : {0}, {1}, {1} -> {0}\n return %y : {0} }",
                        x, g),
                {1e-5});
    checkKernel(formatv("func.func private @k(%x: {0}, %g: {1}) -> {0} {{\n"
                        "%y = nn.rms_norm %x, %g : {0}, {1} -> {0}\n return %y : {0} }",
                        x, g),
                {1e-5});
    checkKernel(formatv("func.func private @k(%d: {0}, %x: {0}, %g: {1}) -> ({0}, {0}) {{\n"
                        "%y = nn.layer_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n"
                        "%z = nn.rms_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n return %y, %z : {0}, {0} }",
                        x, g),
                {1e-5});
    checkKernel(formatv("func.func private @k(%d: {0}, %x: {0}) -> ({1}, {1}, {1}) {{\n"
                        "%y, %b = nn.layer_norm_param_grad %d, %x : {0}, {0} -> {1}, {1}\n"
                        "%z = nn.rms_norm_param_grad %d, %x : {0}, {0} -> {1}\n return %y, %b, %z : {1}, {1}, {1} }",
                        x, g),
                {1e-5});
  }
}

TEST(Row, AddThenNorm) {
  for (const auto &shape : shapes) {
    if (shape.back() == 1)
      continue;
    std::string x = tensor(shape), g = tensor({shape.back()});
    checkKernel(formatv("func.func private @k(%a: {0}, %c: {1}, %r: {0}, %g: {1}, %b: {1}) -> ({0}, {0}) {{\n"
                        "%0 = nn.add %a, %c : {0}, {1} -> {0}\n %1 = nn.add %r, %0 : {0}, {0} -> {0}\n"
                        "%y = nn.layer_norm %1, %g, %b : {0}, {1}, {1} -> {0}\n"
                        "%z = nn.gelu %y : {0} -> {0}\n return %1, %z : {0}, {0} }",
                        x, g),
                {1e-5});
  }
}

TEST(Row, CrossEntropyPieces) {
  for (const auto &shape : shapes) {
    std::string x = tensor(shape), r = tensor(rowsOf(shape)), ids = tensor(rowsOf(shape), "i32");
    std::string text =
        formatv("func.func private @k(%x: {0}, %ids: {2}, %o: i64) -> ({1}, {1}, {1}, {1}) {{\n"
                "%m = nn.row_max %x : {0} -> {1}\n %s = nn.row_sum_exp %x, %m : {0}, {1} -> {1}\n"
                "%l = nn.elementwise %m, %s : {1}, {1} -> {1} {{\n^bb0(%a: f32, %b: f32):\n %0 = math.log %b : f32\n"
                "%1 = arith.addf %a, %0 : f32\n return %1 : f32 }\n"
                "%p = nn.pick %x, %ids offset %o : {0}, {2} -> {1}\n return %m, %s, %l, %p : {1}, {1}, {1}, {1} }",
                x, r, ids);
    for (int64_t offset : {0, 2})
      checkKernel(text, {1e-5, {offset}, shape.back() + 2});
    std::string grad =
        formatv("func.func private @k(%d: tensor<f32>, %x: {0}, %ids: {2}, %l: {1}, %o: i64) -> {0} {{\n"
                "%y = nn.cross_entropy_grad %d, %x, %ids, %l offset %o : tensor<f32>, {0}, {2}, {1} -> {0}\n"
                "return %y : {0} }",
                x, r, ids);
    for (int64_t offset : {0, 2})
      checkKernel(grad, {1e-5, {offset}, shape.back() + 2});
  }
}

TEST(Row, WholeSums) {
  for (const auto &shape : shapes) {
    if (shape == shapes.front())
      continue; // scalars are computed apart from reductions
    std::string x = tensor(shape), ids = tensor(shape, "i32");
    checkKernel(formatv("func.func private @k(%x: {0}) -> (tensor<f32>, tensor<f32>) {{\n"
                        "%s = nn.square_sum %x : {0} -> tensor<f32>\n %y = nn.mul %x, %x : {0}, {0} -> {0}\n"
                        "%t = nn.sum %y : {0} -> tensor<f32>\n return %s, %t : tensor<f32>, tensor<f32> }",
                        x),
                {1e-5});
    checkKernel(formatv("func.func private @k(%x: {0}) -> tensor<i64> {{\n"
                        "%s = nn.count_tokens %x : {0} -> tensor<i64>\n return %s : tensor<i64> }",
                        ids),
                {0});
  }
}

TEST(Row, ColumnSums) {
  for (const auto &shape :
       {std::vector<int64_t>{3, 1}, {1, 40}, {300, 3}, {5, 32}, {4, 8, 768}, {2, 300, 129}, {7, 25129}}) {
    std::string x = tensor(shape), b = tensor({shape.back()});
    checkKernel(formatv("func.func private @k(%x: {0}, %d: {0}, %acc: {1}) -> ({0}, {1}) {{\n"
                        "%0 = nn.mul %x, %d : {0}, {0} -> {0}\n %1 = nn.sum %0 : {0} -> {1}\n"
                        "%2 = nn.add %acc, %1 : {1}, {1} -> {1}\n return %0, %2 : {0}, {1} }",
                        x, b),
                {1e-5});
  }
}
} // namespace
