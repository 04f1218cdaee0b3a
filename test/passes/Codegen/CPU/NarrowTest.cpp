// Kernels on bf16 and f16: conversions bit for bit on every CPU; elementwise results next to the reference, rounded;
// reductions and moves in any mixture of types.
#include "KernelTesting.h"
#include "runtime/Comm/Half.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
using namespace hocket::codegen::testing;
using namespace hocket::runtime;
using llvm::formatv;

namespace {
const std::vector<std::vector<int64_t>> shapes = {{3}, {5, 32}, {2, 7, 129}, {4, 16, 768}};
/// With instructions for f16, with vectors of 256 bits, with neither.
const char *const marches[] = {"native", "x86-64-v3", "x86-64"};
constexpr const char *narrow[] = {"bf16", "f16"};

/// f32 numbers of every kind: random bits, all exponents, ties and their neighbours, subnormal, infinite, NaN.
std::vector<uint32_t> singles() {
  std::mt19937 random(3);
  std::vector<uint32_t> bits = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7f800001,
                                0x7fc00001, 0xffffffff, 1,          0x807fffff};
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (uint32_t mantissa :
         {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0x18000u, 0xfffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffffu})
      for (uint32_t sign : {0u, 1u})
        bits.push_back(sign << 31 | exponent << 23 | mantissa);
  while (bits.size() < 40000)
    bits.push_back(random());
  return bits;
}
template <class Word> HostBuffer bufferOf(mlir::Type type, const std::vector<Word> &words) {
  HostBuffer buffer(mlir::cast<mlir::RankedTensorType>(type));
  std::memcpy(buffer.bytes.data(), words.data(), words.size() * sizeof(Word));
  return buffer;
}
template <class Word> Word wordAt(const HostBuffer &buffer, size_t i) {
  Word word;
  std::memcpy(&word, buffer.bytes.data() + i * sizeof word, sizeof word);
  return word;
}
bool isNan(uint16_t bits, bool bfloat) { return bfloat ? (bits & 0x7fff) > 0x7f80 : (bits & 0x7fff) > 0x7c00; }

TEST(Narrow, RoundsToNearestWithTheSameBitsOnEveryCpu) {
  std::vector<uint32_t> bits = singles();
  std::string f32 = tensor({static_cast<int64_t>(bits.size())});
  for (const char *element : narrow) {
    bool bfloat = element == narrow[0];
    std::string text =
        formatv("func.func private @k(%x: {0}) -> {1} {{\n %y = nn.cast %x : {0} -> {1}\n return %y : {1} }", f32,
                tensor({static_cast<int64_t>(bits.size())}, element));
    std::vector<std::vector<HostBuffer>> all;
    for (const char *march : marches) {
      Kernels kernels(text, march);
      ASSERT_TRUE(kernels.compiled());
      all.push_back(kernels.run("k", {bufferOf(kernels.function("k").getArgumentTypes()[0], bits)}));
      EXPECT_TRUE(all.front() == all.back()) << element << " on " << march;
    }
    for (size_t i = 0; i < bits.size(); ++i) {
      auto value = std::bit_cast<float>(bits[i]);
      uint16_t found = wordAt<uint16_t>(all[0][0], i),
               expected = bfloat ? toBFloat16(value).bits : toFloat16(value).bits;
      if (std::isnan(value))
        EXPECT_TRUE(isNan(found, bfloat)) << std::hex << bits[i];
      else
        EXPECT_EQ(found, expected) << std::hex << bits[i] << " as " << element;
    }
  }
}

TEST(Narrow, WidensEveryNumber) {
  std::vector<uint16_t> bits(1 << 16);
  std::iota(bits.begin(), bits.end(), 0);
  for (const char *element : narrow) {
    bool bfloat = element == narrow[0];
    std::string text =
        formatv("func.func private @k(%x: {0}) -> {1} {{\n %y = nn.cast %x : {0} -> {1}\n return %y : {1} }",
                tensor({1 << 16}, element), tensor({1 << 16}));
    std::vector<std::vector<HostBuffer>> all;
    for (const char *march : marches) {
      Kernels kernels(text, march);
      ASSERT_TRUE(kernels.compiled());
      all.push_back(kernels.run("k", {bufferOf(kernels.function("k").getArgumentTypes()[0], bits)}));
      EXPECT_TRUE(all.front() == all.back()) << element << " on " << march;
    }
    for (size_t i = 0; i < bits.size(); ++i) {
      auto found = wordAt<float>(all[0][0], i);
      float expected = bfloat ? toFloat(BFloat16{bits[i]}) : toFloat(Float16{bits[i]});
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << std::hex << bits[i];
    }
  }
}

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
      checkKernel(formatv("func.func private @k(%x: {0}, %s: {2}) -> ({0}, {1}) {{\n"
                          "%y, %z = nn.elementwise %x, %s : {0}, {2} -> {0}, {1} {{\n"
                          "^bb0(%a: f32, %b: f32):\n %0 = arith.mulf %a, %b : f32\n %1 = math.tanh %0 : f32\n"
                          "%2 = math.exp %1 : f32\n return %2, %1 : f32, f32 }\n return %y, %z : {0}, {1} }",
                          x, tensor(shape), tensor({}, element)),
                  next);
    }
}

TEST(Narrow, Norms) {
  for (const char *element : narrow)
    for (const auto &shape : shapes) {
      std::string x = tensor(shape, element), g = tensor({shape.back()}, element), sum = tensor({shape.back()});
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
      if (shape.size() > 1) // sums in f32: as near as those of f32 operands
        checkKernel(
            formatv("func.func private @k(%d: {0}, %x: {0}) -> ({1}, {1}, {1}) {{\n"
                    "%y, %b = nn.layer_norm_param_grad %d, %x : {0}, {0} -> {1}, {1}\n"
                    "%z = nn.rms_norm_param_grad %d, %x : {0}, {0} -> {1}\n return %y, %b, %z : {1}, {1}, {1} }",
                    x, sum),
            {1e-5});
    }
}

TEST(Narrow, CrossEntropyAndSums) {
  for (const char *element : narrow)
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{1, 5, 32}, {2, 7, 129}, {4, 16, 768}}) {
      std::vector<int64_t> rows(shape.begin(), shape.end() - 1);
      std::string x = tensor(shape, element), r = tensor(rows), c = tensor({shape.back()}), ids = tensor(rows, "i32");
      checkKernel(formatv("func.func private @k(%x: {0}, %ids: {2}, %o: i64) -> ({1}, {1}, {1}) {{\n"
                          "%m = nn.row_max %x : {0} -> {1}\n %s = nn.row_sum_exp %x, %m : {0}, {1} -> {1}\n"
                          "%p = nn.pick %x, %ids offset %o : {0}, {2} -> {1}\n return %m, %s, %p : {1}, {1}, {1} }",
                          x, r, ids),
                  {1e-5, {2}, shape.back() + 2});
      checkKernel(formatv("func.func private @k(%d: tensor<f32>, %x: {0}, %ids: {2}, %l: {1}, %o: i64) -> {0} {{\n"
                          "%y = nn.cross_entropy_grad %d, %x, %ids, %l offset %o : tensor<f32>, {0}, {2}, {1} -> {0}\n"
                          "return %y : {0} }",
                          x, r, ids),
                  {reductionTolerance(element), {2}, shape.back() + 2});
      checkKernel(formatv("func.func private @k(%x: {0}) -> tensor<f32> {{\n"
                          "%s = nn.square_sum %x : {0} -> tensor<f32>\n return %s : tensor<f32> }",
                          x),
                  {1e-5});
      checkKernel(
          formatv("func.func private @k(%x: {0}) -> {1} {{\n %s = nn.sum %x : {0} -> {1}\n return %s : {1} }", x, c),
          {1e-5});
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

TEST(Narrow, EmbeddingAndItsGradient) {
  for (const char *element : narrow)
    for (int64_t width : {3, 129}) {
      std::string ids = tensor({2, 9}, "i32"), table = tensor({7, width}, element), y = tensor({2, 9, width}, element);
      checkKernel(formatv("func.func private @k(%i: {0}, %t: {1}, %o: i64) -> {2} {{\n"
                          "%e = nn.embedding %i, %t offset %o : {0}, {1} -> {2}\n return %e : {2} }",
                          ids, table, y),
                  {0, {3}, 9});
      checkKernel(formatv("func.func private @k(%i: {0}, %d: {2}, %acc: {1}, %o: i64) -> {1} {{\n"
                          "%g = nn.embedding_grad %i, %d offset %o : {0}, {2} -> {1}\n"
                          "%y = nn.add %acc, %g : {1}, {1} -> {1}\n return %y : {1} }",
                          ids, tensor({7, width}), y),
                  {1e-6, {3}, 9});
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
