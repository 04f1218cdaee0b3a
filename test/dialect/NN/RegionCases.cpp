// Cases of dist.local, the one op of the mathematics outside of nn: a region of ranks, in each way it may be written.
#include "test/dialect/NN/OpCase.h"

namespace hocket::nn::test {
static const char *const columns = R"(
  %h = linear %r, %u : tensor<3x4x8xf32>, tensor<8x6xf32> -> tensor<3x4x6xf32>
  %g = gelu %h : tensor<3x4x6xf32> -> tensor<3x4x6xf32>
  %o = linear %g, %t : tensor<3x4x6xf32>, tensor<6x8xf32> -> tensor<3x4x8xf32>)";
static const char *const operands = "%x: tensor<3x4x8xf32>, %w: tensor<8x12xf32>, %v: tensor<12x8xf32>";

/// A feed-forward block whose x is `as`, and which ends in `after`.
static OpCase block(std::string name, std::string as, std::string before, std::string after, std::string result) {
  return {name, operands,
          "%y = dist.local over <\"tp\"=2> (%a = %x : tensor<3x4x8xf32> as " + as +
              ", %u = %w : tensor<8x12xf32> as varying(1), %t = %v : tensor<12x8xf32> as varying(0)) -> "
              "(tensor<3x4x8xf32> as " +
              result + ") {\n" + before + columns + after + "\n}"};
}

std::vector<OpCase> regions() {
  std::string replicate =
      "%r = dist.convert %a over \"tp\" invariant to replicated : tensor<3x4x8xf32> -> tensor<3x4x8xf32>";
  return {
      block("local_megatron", "invariant", replicate,
            "%y = dist.convert %o over \"tp\" partial to invariant by all_reduce : tensor<3x4x8xf32> -> "
            "tensor<3x4x8xf32>\nreturn %y : tensor<3x4x8xf32>",
            "invariant"),
      block("local_partial", "invariant", replicate, "\nreturn %o : tensor<3x4x8xf32>", "partial"),
      block("local_sequence", "varying(1)",
            "%r = dist.convert %a over \"tp\" varying(1) to replicated by all_gather : tensor<3x2x8xf32> -> "
            "tensor<3x4x8xf32>",
            "%y = dist.convert %o over \"tp\" partial to varying(1) by reduce_scatter : tensor<3x4x8xf32> -> "
            "tensor<3x2x8xf32>\nreturn %y : tensor<3x2x8xf32>",
            "varying(1)"),
      {"local_exchange", "%x: tensor<3x4x6xf32>, %b: tensor<6xf32>",
       R"(%y = dist.local over <"tp"=2> (%a = %x : tensor<3x4x6xf32> as invariant, %c = %b : tensor<6xf32> as varying(0))
    -> (tensor<3x4x6xf32> as invariant) {
  %s = dist.convert %a over "tp" invariant to varying(1) by slice : tensor<3x4x6xf32> -> tensor<3x2x6xf32>
  %g = silu %s : tensor<3x2x6xf32> -> tensor<3x2x6xf32>
  %t = dist.convert %g over "tp" varying(1) to varying(2) by all_to_all : tensor<3x2x6xf32> -> tensor<3x4x3xf32>
  %m = mul %t, %c : tensor<3x4x3xf32>, tensor<3xf32> -> tensor<3x4x3xf32>
  %w = dist.convert %m over "tp" varying(2) to invariant by all_gather : tensor<3x4x3xf32> -> tensor<3x4x6xf32>
  return %w : tensor<3x4x6xf32>
})"},
      {"local_two_axes", "%x: tensor<3x4x8xf32>, %w: tensor<8x6xf32>",
       R"(%y = dist.local over <"cp"=2, "tp"=3> (%a = %x : tensor<3x4x8xf32> as [varying(1), replicated],
    %u = %w : tensor<8x6xf32> as [replicated, varying(1)]) -> (tensor<3x4x6xf32> as [varying(1), varying(2)]) {
  %h = linear %a, %u : tensor<3x2x8xf32>, tensor<8x2xf32> -> tensor<3x2x2xf32>
  %g = gelu %h : tensor<3x2x2xf32> -> tensor<3x2x2xf32>
  return %g : tensor<3x2x2xf32>
})"},
      {"local_rows",
       "%i: tensor<3x5xi32>, %t: tensor<8x4xf32>",
       R"(%y = dist.local over <"tp"=2> (%a = %i : tensor<3x5xi32> as invariant, %u = %t : tensor<8x4xf32> as varying(0))
    -> (tensor<3x5x4xf32> as partial) {
  %o = dist.offset of 8 over "tp"
  %e = embedding %a, %u offset %o : tensor<3x5xi32>, tensor<4x4xf32> -> tensor<3x5x4xf32>
  return %e : tensor<3x5x4xf32>
})",
       {0, 8}},
      {"local_by_hand", "%x: tensor<4x8xf32>, %w: tensor<8x6xf32>",
       R"(%y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1))
    -> (tensor<4x6xf32> as varying(1)) {
  %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
  %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  return %h : tensor<4x3xf32>
} backward (%a, %u, %dy) {
  %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
  %du = matmul %r, %dy "b h, b f -> h f" : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  %dr = linear transposed %dy, %u : tensor<4x3xf32>, tensor<8x3xf32> -> tensor<4x8xf32>
  %da = dist.convert %dr over "tp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
  return %da, %du : tensor<4x8xf32>, tensor<8x3xf32>
})"},
  };
}
} // namespace hocket::nn::test
