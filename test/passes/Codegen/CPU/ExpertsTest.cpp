// Routers and the ways to experts and back, against reference semantics.
#include "KernelTesting.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
struct Sizes {
  int64_t tokens, experts, top, capacity;
};
// Experts fewer and more than 32 at a time; positions of random inputs repeat, so that the order of equal ones counts
// too.
const Sizes sizes[] = {{7, 4, 2, 3}, {40, 33, 3, 4}, {5, 64, 8, 1}, {3, 2, 2, 9}};

std::string choices(Sizes s, const char *element) { return tensor({2, s.tokens, s.top}, element); }
std::string places(Sizes s) { return tensor({2, s.experts, s.capacity}, "i32"); }
std::string logits(Sizes s) { return tensor({2, s.tokens, s.experts}); }

TEST(Experts, Router) {
  for (Sizes s : sizes)
    for (const char *options : {"balance(0.5)", "normalized scale(2.5)", "sigmoid normalized balance(0.5)", "sigmoid"})
      checkKernel(formatv("func.func private @k(%l: {0}, %p: {1}) -> ({2}, {3}, {4}, tensor<2xf32>) {{\n"
                          "%w, %s, %t, %b = nn.router %l at %p top {5} {6} : {0}, {1} -> {2}, {3}, {4}, tensor<2xf32>\n"
                          "return %w, %s, %t, %b : {2}, {3}, {4}, tensor<2xf32> }",
                          logits(s), tensor({2, s.tokens}, "i32"), choices(s, "f32"), choices(s, "i32"), places(s),
                          s.top, options),
                  {1e-5});
}

// Without an auxiliary loss nobody reads the load, and where a combine is not weighted nobody reads weights: they have
// no memory.
TEST(Experts, RouterOfWhichPartsAreNotRead) {
  Sizes s = sizes[0];
  for (const char *read : {"%w, %s, %t", "%s, %t, %b"}) {
    bool weights = read[1] == 'w';
    std::string types = weights ? formatv("{0}, {1}, {2}", choices(s, "f32"), choices(s, "i32"), places(s)).str()
                                : formatv("{0}, {1}, tensor<2xf32>", choices(s, "i32"), places(s)).str();
    checkKernel(
        formatv("func.func private @k(%l: {0}, %p: {1}) -> ({2}) {{\n"
                "%w, %s, %t, %b = nn.router %l at %p top {3} balance(0.5) : {0}, {1} -> {4}, {5}, {6}, tensor<2xf32>\n"
                "return {7} : {2} }",
                logits(s), tensor({2, s.tokens}, "i32"), types, s.top, choices(s, "f32"), choices(s, "i32"), places(s),
                read),
        {1e-5});
  }
}

TEST(Experts, RouterGrad) {
  for (Sizes s : sizes)
    for (const char *options : {"balance(0.5)", "normalized scale(2.5)", "sigmoid normalized balance(0.5)", "sigmoid"})
      for (bool load : {false, true})
        checkKernel(formatv("func.func private @k(%d: {0}, %l: {1}{2}) -> {1} {{\n"
                            "%y = nn.router_grad %d, %l {3} top {4} {5} : {0}, {1}{6} -> {1}\n return %y : {1} }",
                            choices(s, "f32"), logits(s), load ? ", %b: tensor<2xf32>" : "", load ? "load %b" : "",
                            s.top, options, load ? ", tensor<2xf32>" : ""),
                    {1e-5});
}

TEST(Experts, DispatchAndCombine) {
  for (Sizes s : {Sizes{7, 4, 2, 3}, Sizes{9, 5, 3, 2}})
    for (int64_t width : {1, 5, 32, 70})
      for (const char *element : {"f32", "bf16", "f16"})
        for (bool weighted : {false, true}) {
          std::string at = tensor({2, s.tokens, width}, element),
                      to = tensor({s.experts, 2, s.capacity, width}, element);
          std::string more = weighted ? ", %w: " + choices(s, "f32") : "",
                      type = weighted ? ", " + choices(s, "f32") : "";
          for (auto [op, x, y] : {std::tuple("dispatch", at, to), std::tuple("combine", to, at)})
            checkKernel(formatv("func.func private @k(%x: {0}, %s: {1}, %t: {2}{4}) -> {3} {{\n"
                                "%y = nn.{5} %x by %s, %t {6} : {0}, {1}, {2}{7} -> {3}\n return %y : {3} }",
                                x, choices(s, "i32"), places(s), y, more, op, weighted ? "weighted %w" : "", type),
                        {element == std::string("f32") ? 1e-6 : reductionTolerance(element)});
        }
}

TEST(Experts, CombineGrad) {
  Sizes s{7, 4, 2, 3};
  for (int64_t width : {1, 5, 32, 70})
    for (const char *element : {"f32", "bf16", "f16"})
      checkKernel(formatv("func.func private @k(%x: {0}, %d: {1}, %s: {2}) -> {3} {{\n"
                          "%y = nn.combine_grad %x, %d by %s : {0}, {1}, {2} -> {3}\n return %y : {3} }",
                          tensor({s.experts, 2, s.capacity, width}, element), tensor({2, s.tokens, width}, element),
                          choices(s, "i32"), choices(s, "f32")),
                  {1e-5});
}
} // namespace
