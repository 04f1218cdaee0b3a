// Data movement: stacks, slices, pieces, masks, positions, rows of a table and their gradient, rotary embedding.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
TEST(Move, StackAndUnstack) {
  for (int64_t side : {1, 3, 32, 77}) {
    std::string all = tensor({4, 5, 3, side}), one = tensor({4, 5, side}), bias = tensor({side});
    checkKernel(formatv("func.func private @k(%x: {0}) -> ({1}, {1}, {1}) {{\n"
                        "%a, %b, %c = nn.unstack %x dim 2 : {0} -> {1}, {1}, {1}\n return %a, %b, %c : {1}, {1}, {1} }",
                        all, one));
    checkKernel(formatv("func.func private @k(%a: {1}, %b: {1}, %c: {1}) -> {0} {{\n"
                        "%x = nn.stack %a, %b, %c dim 2 : {1}, {1}, {1} -> {0}\n return %x : {0} }",
                        all, one));
    std::string two = tensor({4, 5, 2, side});
    checkKernel(
        formatv("func.func private @k(%x: {0}, %c: {2}) -> {1} {{\n"
                "%a, %b = nn.unstack %x dim 2 : {0} -> {1}, {1}\n %s = nn.silu %a : {1} -> {1}\n"
                "%y = nn.mul %s, %b : {1}, {1} -> {1}\n %z = nn.add %y, %c : {1}, {2} -> {1}\n return %z : {1} }",
                two, one, bias));
  }
}

TEST(Move, SliceMaskPackUnpack) {
  for (int64_t side : {1, 3, 40}) {
    std::string x = tensor({2, 7, side}), part = tensor({2, 3, side});
    for (int64_t offset : {0, 3, 6})
      checkKernel(formatv("func.func private @k(%x: {0}, %o: i64) -> {1} {{\n"
                          "%y = step.slice %x dim 1 offset %o : {0} -> {1}\n return %y : {1} }",
                          x, part),
                  {0, {offset}});
    for (int64_t extent : {0, 4, 7})
      checkKernel(formatv("func.func private @k(%x: {0}, %e: i64) -> {0} {{\n"
                          "%y = step.mask %x dim 1 extent %e with -3.5 : {0} -> {0}\n return %y : {0} }",
                          x),
                  {0, {extent}});
    for (int64_t pieces : {1, 2, 4, 8}) {
      std::string packed = tensor({pieces, 2, (7 + pieces - 1) / pieces, side});
      checkKernel(formatv("func.func private @k(%x: {0}) -> {1} {{\n"
                          "%y = step.pack %x dim 1 pieces {2} : {0} -> {1}\n return %y : {1} }",
                          x, packed, pieces),
                  {0});
      checkKernel(formatv("func.func private @k(%x: {1}) -> {0} {{\n"
                          "%y = step.unpack %x dim 1 : {1} -> {0}\n return %y : {0} }",
                          x, packed),
                  {0});
    }
  }
}

TEST(Move, PlaceAndPart) {
  for (int64_t side : {1, 3, 40}) {
    std::string x = tensor({2, 3, side}), whole = tensor({2, 3 * side}), bucket = tensor({2, 3 * side + 7});
    checkKernel(formatv("func.func private @k(%x: {0}) -> {1} {{\n"
                        "%y = step.place %x pieces 2 first 0 : {0} -> {1}\n return %y : {1} }",
                        x, whole),
                {0});
    for (int64_t first : {0, 4, 7})
      checkKernel(formatv("func.func private @k(%b: {1}) -> {0} {{\n"
                          "%y = step.part %b pieces 2 first {2} : {1} -> {0}\n return %y : {0} }",
                          x, bucket, first),
                  {0});
  }
}

// What else the bucket holds stays: the kernel lies on it, and says so.
TEST(Move, PlaceInABucket) {
  std::string text = "func.func private @k(%x: tensor<2x5xf32>, %b: tensor<2x9xf32>) -> tensor<2x9xf32> {\n"
                     "%y = step.place %x pieces 2 first 3 in %b : tensor<2x5xf32>, tensor<2x9xf32> -> tensor<2x9xf32>\n"
                     "return %y : tensor<2x9xf32> }";
  Kernels kernels(text);
  auto inputs = randomInputs(kernels.function("k"), {0});
  auto x = inputs[0].values(), bucket = inputs[1].values();
  auto y = kernels.run("k", inputs, {}, 1, {0, 1})[0].values();
  for (int64_t i = 0; i < y.size(); ++i) {
    int64_t row = i / 9, column = i % 9;
    EXPECT_EQ(y[i], column >= 3 && column < 8 ? x[row * 5 + column - 3] : bucket[i]) << i;
  }
}

TEST(Move, MaskedRowsReduce) {
  checkKernel(
      "func.func private @k(%x: tensor<3x70xf32>, %e: i64) -> tensor<3xf32> {\n"
      "%0 = step.mask %x dim 1 extent %e with -1.0e30 : tensor<3x70xf32> -> tensor<3x70xf32>\n"
      "%m = nn.row_max %0 : tensor<3x70xf32> -> tensor<3xf32>\n"
      "%s = nn.row_sum_exp %0, %m : tensor<3x70xf32>, tensor<3xf32> -> tensor<3xf32>\n return %s : tensor<3xf32> }",
      {1e-5, {41}});
}

TEST(Move, Positions) {
  for (int64_t s : {1, 5, 64})
    checkKernel(
        formatv("func.func private @k(%o: i64) -> {0} {{\n %y = nn.positions offset %o : {0}\n return %y : {0} }",
                tensor({3, s}, "i32")),
        {0, {11}});
}

TEST(Move, Embedding) {
  for (int64_t width : {1, 3, 768, 129})
    for (int64_t offset : {0, 3}) {
      std::string ids = tensor({2, 9}, "i32"), table = tensor({7, width}), y = tensor({2, 9, width});
      checkKernel(
          formatv("func.func private @k(%i: {0}, %t: {1}, %o: i64, %p: {2}) -> {2} {{\n"
                  "%e = nn.embedding %i, %t offset %o : {0}, {1} -> {2}\n %y = nn.add %e, %p : {2}, {2} -> {2}\n"
                  "return %y : {2} }",
                  ids, table, y),
          {1e-6, {offset}, 9});
      checkKernel(formatv("func.func private @k(%i: {0}, %d: {2}, %o: i64) -> {1} {{\n"
                          "%g = nn.embedding_grad %i, %d offset %o : {0}, {2} -> {1}\n return %g : {1} }",
                          ids, table, y),
                  {1e-6, {offset}, 9});
    }
}

TEST(Move, EmbeddingGradInPlace) {
  std::string text =
      "func.func private @k(%i: tensor<70xi32>, %d: tensor<70x50xf32>, %acc: tensor<9x50xf32>) -> tensor<9x50xf32> {\n"
      "%g = nn.embedding_grad %i, %d : tensor<70xi32>, tensor<70x50xf32> -> tensor<9x50xf32>\n"
      "%y = nn.add %acc, %g : tensor<9x50xf32>, tensor<9x50xf32> -> tensor<9x50xf32>\n return %y : tensor<9x50xf32> }";
  checkKernel(text, {1e-6, {}, 9});
  Kernels kernels(text);
  auto inputs = randomInputs(kernels.function("k"), {1e-6, {}, 9});
  EXPECT_TRUE(kernels.run("k", inputs) == kernels.run("k", inputs, {}, 2, {0, 2}));
}

TEST(Move, ConcatPartPadSpreadSumOver) {
  for (int64_t side : {1, 3, 32, 77}) {
    std::string a = tensor({4, 3, 5, side}), b = tensor({4, 3, 2, side}), all = tensor({4, 3, 7, side});
    checkKernel(formatv("func.func private @k(%a: {0}, %b: {1}) -> {2} {{\n"
                        "%y = nn.concat %a, %b, %a dim 2 : {0}, {1}, {0} -> {2}\n return %y : {2} }",
                        a, b, tensor({4, 3, 12, side})),
                {0});
    for (int64_t from : {0, 2, 5}) {
      checkKernel(formatv("func.func private @k(%x: {0}) -> {1} {{\n"
                          "%y = nn.part %x dim 2 from {2} : {0} -> {1}\n return %y : {1} }",
                          all, b, from),
                  {0});
      checkKernel(formatv("func.func private @k(%b: {1}) -> {0} {{\n"
                          "%y = nn.pad %b dim 2 from {2} : {1} -> {0}\n return %y : {0} }",
                          all, b, from),
                  {0});
    }
    checkKernel(formatv("func.func private @k(%x: {0}) -> {1} {{\n"
                        "%y = nn.spread %x dim 2 : {0} -> {1}\n return %y : {1} }",
                        tensor({4, 3, side}), b),
                {0});
    checkKernel(formatv("func.func private @k(%x: {0}, %z: {1}) -> {1} {{\n"
                        "%s = nn.sum_over %x dim 2 : {0} -> {1}\n %y = nn.add %s, %z : {1}, {1} -> {1}\n"
                        "return %y : {1} }",
                        all, tensor({4, 3, side})));
  }
  // the last dimension: latent attention's key of a rotary part and another, heads repeated
  checkKernel("func.func private @k(%a: tensor<2x5x3x8xf32>, %b: tensor<2x5x3x16xf32>) -> tensor<2x5x3x24xf32> {\n"
              "%y = nn.concat %a, %b dim 3 : tensor<2x5x3x8xf32>, tensor<2x5x3x16xf32> -> tensor<2x5x3x24xf32>\n"
              "return %y : tensor<2x5x3x24xf32> }",
              {0});
}

TEST(Move, DropoutMakesTheMaskOfTheReference) {
  for (int64_t d : {1, 6, 64, 70})
    for (const char *rate : {"0", "0.1", "0.75"}) {
      std::string x = tensor({3, 5, 4, d}), p = tensor({3, 5}, "i32"), draws = tensor({3}, "i32");
      checkKernel(
          formatv("func.func private @k(%x: {0}, %p: {1}, %d: {2}, %n: i64, %o: i64, %q: i64) -> {0} {{\n"
                  "%y = nn.dropout %x at %p rate({3}) draws %d of [9, {4}] number %n offsets %o, %q dims [2, 3] "
                  ": {0}, {1}, {2} -> {0}\n return %y : {0} }",
                  x, p, draws, rate, 3 * d),
          {1e-6, {4000000000, 5, d}, 100000});
      checkKernel(
          formatv("func.func private @k(%x: {0}, %z: {0}, %p: {1}, %d: {2}) -> {0} {{\n"
                  "%s = nn.silu %x : {0} -> {0}\n"
                  "%y = nn.dropout %s at %p rate({3}) draws %d of [4, {4}] stream \"h.1\" : {0}, {1}, {2} -> {0}\n"
                  "%r = nn.add %y, %z : {0}, {0} -> {0}\n return %r : {0} }",
                  x, p, draws, rate, d),
          {1e-6, {}, 1}); // draws of 0 and -1
    }
}

TEST(Move, Rope) {
  for (const char *form : {"", "dims(4)", "interleaved", "dims(6) interleaved"})
    for (const char *inverse : {"", "inverse "})
      for (int64_t d : {6, 64, 70}) {
        std::string x = tensor({2, 5, 3, d}), p = tensor({2, 5}, "i32");
        checkKernel(formatv("func.func private @k(%x: {0}, %p: {1}) -> {0} {{\n"
                            "%y = nn.rope {2}%x at %p {3} : {0}, {1} -> {0}\n return %y : {0} }",
                            x, p, inverse, form),
                    {1e-6, {}, 100000});
      }
}
} // namespace
