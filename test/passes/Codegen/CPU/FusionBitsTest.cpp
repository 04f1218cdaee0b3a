// A fusion changes no bit: a kernel of many ops against each of its ops as a kernel of its own.
#include "KernelTesting.h"
using namespace hocket::codegen::testing;

namespace {
struct FusedCase {
  std::string fused;
  std::vector<std::string> apart; ///< kernels @a, @b, …: each is given the values named in `wiring`
  /// For each kernel: which values it reads. Values are numbered: the fused kernel's arguments, then all results in
  /// order.
  std::vector<std::vector<int>> wiring;
  std::vector<int> results; ///< the values that the fused kernel returns
};

void replace(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void checkBitsOnce(const FusedCase &c) {
  SCOPED_TRACE(c.fused);
  Kernels fused(c.fused);
  ASSERT_TRUE(fused.compiled());
  std::vector<HostBuffer> values = randomInputs(fused.function("k"), {});
  std::vector<HostBuffer> together = fused.run("k", values);
  for (size_t i = 0; i < c.apart.size(); ++i) {
    Kernels one(c.apart[i]);
    ASSERT_TRUE(one.compiled());
    std::vector<HostBuffer> inputs;
    for (int value : c.wiring[i])
      inputs.push_back(values[value]);
    for (HostBuffer &result : one.run("k", inputs))
      values.push_back(result);
  }
  for (size_t i = 0; i < c.results.size(); ++i)
    EXPECT_TRUE(together[i] == values[c.results[i]]) << "result " << i;
}

/// With tensors of f32, and with those of 16 bits, whose results are rounded inside a kernel as well.
void checkBits(const FusedCase &c) {
  for (const char *element : {"xf32>", "xbf16>", "xf16>"}) {
    FusedCase typed = c;
    replace(typed.fused, "xf32>", element);
    for (std::string &text : typed.apart)
      replace(text, "xf32>", element);
    checkBitsOnce(typed);
  }
}

#define X "tensor<6x5x77xf32>"
#define G "tensor<77xf32>"

TEST(FusionBits, ResidualNormGelu) {
  checkBits({"func.func private @k(%a: " X ", %c: " G ", %r: " X ", %g: " G ", %b: " G ") -> (" X ", " X ") {\n"
             "%0 = nn.add %a, %c : " X ", " G " -> " X "\n %1 = nn.add %r, %0 : " X ", " X " -> " X "\n"
             "%2 = nn.layer_norm %1, %g, %b : " X ", " G ", " G " -> " X "\n %3 = nn.gelu %2 : " X " -> " X "\n"
             "return %1, %3 : " X ", " X " }",
             {"func.func private @k(%a: " X ", %c: " G ") -> " X " {\n%0 = nn.add %a, %c : " X ", " G " -> " X
              "\n return %0 : " X " }",
              "func.func private @k(%a: " X ", %c: " X ") -> " X " {\n%0 = nn.add %a, %c : " X ", " X " -> " X
              "\n return %0 : " X " }",
              "func.func private @k(%a: " X ", %g: " G ", %b: " G ") -> " X " {\n"
              "%0 = nn.layer_norm %a, %g, %b : " X ", " G ", " G " -> " X "\n return %0 : " X " }",
              "func.func private @k(%a: " X ") -> " X " {\n%0 = nn.gelu %a : " X " -> " X "\n return %0 : " X " }"},
             {{0, 1}, {2, 5}, {6, 3, 4}, {7}},
             {6, 8}});
}

TEST(FusionBits, NormGradAndResidual) {
  checkBits({"func.func private @k(%d: " X ", %x: " X ", %g: " G ", %r: " X ") -> " X " {\n"
             "%0 = nn.layer_norm_grad %d, %x, %g : " X ", " X ", " G " -> " X "\n"
             "%1 = nn.add %r, %0 : " X ", " X " -> " X "\n return %1 : " X " }",
             {"func.func private @k(%d: " X ", %x: " X ", %g: " G ") -> " X " {\n"
              "%0 = nn.layer_norm_grad %d, %x, %g : " X ", " X ", " G " -> " X "\n return %0 : " X " }",
              "func.func private @k(%a: " X ", %c: " X ") -> " X " {\n%0 = nn.add %a, %c : " X ", " X " -> " X
              "\n return %0 : " X " }"},
             {{0, 1, 2}, {3, 4}},
             {5}});
}

// A product at the end of one op and a sum at the start of the next are rounded apart.
TEST(FusionBits, ProductThenSum) {
  checkBits({"func.func private @k(%a: " X ", %b: " X ", %c: " X ") -> (" X ", " G ") {\n"
             "%0 = nn.mul %a, %b : " X ", " X " -> " X "\n %1 = nn.add %0, %c : " X ", " X " -> " X "\n"
             "%2 = nn.sum %1 : " X " -> " G "\n return %1, %2 : " X ", " G " }",
             {"func.func private @k(%a: " X ", %b: " X ") -> " X " {\n%0 = nn.mul %a, %b : " X ", " X " -> " X
              "\n return %0 : " X " }",
              "func.func private @k(%a: " X ", %b: " X ") -> " X " {\n%0 = nn.add %a, %b : " X ", " X " -> " X
              "\n return %0 : " X " }",
              "func.func private @k(%a: " X ") -> " G " {\n%0 = nn.sum %a : " X " -> " G "\n return %0 : " G " }"},
             {{0, 1}, {3, 2}, {4}},
             {4, 5}});
}
} // namespace
