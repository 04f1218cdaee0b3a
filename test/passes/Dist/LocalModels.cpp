// The texts: one model, its feed-forward part written in several ways.
#include "test/passes/Dist/LocalModels.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <vector>
using llvm::StringRef;

namespace hocket::testing {
namespace {
std::string modelWith(StringRef feedForward) {
  return (R"mlir(
nn.block @layer(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %g = param "ln.weight" : tensor<8xf32> init ones
  %b = param "ln.bias" : tensor<8xf32> init normal(0.2)
  %w1 = param "fc.weight" : tensor<8x12xf32> init normal(0.4)
  %b1 = param "fc.bias" : tensor<12xf32> init normal(0.2)
  %w2 = param "proj.weight" : tensor<12x8xf32> init normal(0.4)
  %n = layer_norm %x, %g, %b : tensor<?x4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x4x8xf32>
)mlir" + feedForward +
          R"mlir(
  %y = add %x, %m : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}
nn.model @model(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<13x8xf32> init normal(0.5)
  %x = embedding %tokens, %wte : tensor<?x4xi32>, tensor<13x8xf32> -> tensor<?x4x8xf32>
  %y = repeat @layer(%x) 2 as "h" : tensor<?x4x8xf32>
  %logits = linear transposed %y, %wte : tensor<?x4x8xf32>, tensor<13x8xf32> -> tensor<?x4x13xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x4x13xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir")
      .str();
}

const char *const plain = R"mlir(
  %f0 = linear %n, %w1 : tensor<?x4x8xf32>, tensor<8x12xf32> -> tensor<?x4x12xf32>
  %f1 = add %f0, %b1 : tensor<?x4x12xf32>, tensor<12xf32> -> tensor<?x4x12xf32>
  %f = gelu %f1 : tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %m = linear %f, %w2 : tensor<?x4x12xf32>, tensor<12x8xf32> -> tensor<?x4x8xf32>
)mlir";

// Columns of the one weight and rows of the other; what goes in and out is whole.
const char *const megatron = R"mlir(
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as invariant, %u1 = %w1 : tensor<8x12xf32> as varying(1),
      %c1 = %b1 : tensor<12xf32> as varying(0), %u2 = %w2 : tensor<12x8xf32> as varying(0))
      -> (tensor<?x4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %f0 = linear %r, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f1 = add %f0, %c1 : tensor<?x4x6xf32>, tensor<6xf32> -> tensor<?x4x6xf32>
    %f = gelu %f1 : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %f, %u2 : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    %y = dist.convert %o over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    return %y : tensor<?x4x8xf32>
  }
)mlir";

// The same, with the joins left to the partitioner: its boundary is replicated and partial.
const char *const open = R"mlir(
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as replicated, %u1 = %w1 : tensor<8x12xf32> as varying(1),
      %c1 = %b1 : tensor<12xf32> as varying(0), %u2 = %w2 : tensor<12x8xf32> as varying(0))
      -> (tensor<?x4x8xf32> as partial) {
    %f0 = linear %a, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f1 = add %f0, %c1 : tensor<?x4x6xf32>, tensor<6xf32> -> tensor<?x4x6xf32>
    %f = gelu %f1 : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %f, %u2 : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    return %o : tensor<?x4x8xf32>
  }
)mlir";

// Sequence parallelism by hand: gathered before the one product, scattered behind the other.
const char *const sequence = R"mlir(
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as varying(1), %u1 = %w1 : tensor<8x12xf32> as varying(1),
      %c1 = %b1 : tensor<12xf32> as varying(0), %u2 = %w2 : tensor<12x8xf32> as varying(0))
      -> (tensor<?x4x8xf32> as varying(1)) {
    %r = dist.convert %a over "tp" varying(1) to replicated by all_gather : tensor<?x2x8xf32> -> tensor<?x4x8xf32>
    %f0 = linear %r, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f1 = add %f0, %c1 : tensor<?x4x6xf32>, tensor<6xf32> -> tensor<?x4x6xf32>
    %f = gelu %f1 : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %f, %u2 : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    %y = dist.convert %o over "tp" partial to varying(1) by reduce_scatter : tensor<?x4x8xf32> -> tensor<?x2x8xf32>
    return %y : tensor<?x2x8xf32>
  }
)mlir";

// Tokens are split and the weights whole: each rank's gradient of a weight is a summand.
const char *const tokens = R"mlir(
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as invariant, %u1 = %w1 : tensor<8x12xf32> as replicated,
      %c1 = %b1 : tensor<12xf32> as replicated, %u2 = %w2 : tensor<12x8xf32> as invariant)
      -> (tensor<?x4x8xf32> as invariant) {
    %s = dist.convert %a over "tp" invariant to varying(1) by slice : tensor<?x4x8xf32> -> tensor<?x2x8xf32>
    %f0 = linear %s, %u1 : tensor<?x2x8xf32>, tensor<8x12xf32> -> tensor<?x2x12xf32>
    %f1 = add %f0, %c1 : tensor<?x2x12xf32>, tensor<12xf32> -> tensor<?x2x12xf32>
    %f = gelu %f1 : tensor<?x2x12xf32> -> tensor<?x2x12xf32>
    %h = dist.convert %f over "tp" varying(1) to varying(2) by all_to_all : tensor<?x2x12xf32> -> tensor<?x4x6xf32>
    %i = dist.convert %h over "tp" varying(2) to invariant by all_gather : tensor<?x4x6xf32> -> tensor<?x4x12xf32>
    %o = linear %i, %u2 : tensor<?x4x12xf32>, tensor<12x8xf32> -> tensor<?x4x8xf32>
    return %o : tensor<?x4x8xf32>
  }
)mlir";

// The derivative by hand, in which the product before gelu is made again.
const char *const byHand = R"mlir(
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as invariant, %u1 = %w1 : tensor<8x12xf32> as varying(1),
      %c1 = %b1 : tensor<12xf32> as varying(0), %u2 = %w2 : tensor<12x8xf32> as varying(0))
      -> (tensor<?x4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %f0 = linear %r, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f1 = add %f0, %c1 : tensor<?x4x6xf32>, tensor<6xf32> -> tensor<?x4x6xf32>
    %f = mul %f1, %f1 : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %f, %u2 : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    %y = dist.convert %o over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    return %y : tensor<?x4x8xf32>
  } backward (%a, %u1, %c1, %u2, %dy) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %f0 = linear %r, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f1 = add %f0, %c1 : tensor<?x4x6xf32>, tensor<6xf32> -> tensor<?x4x6xf32>
    %f = mul %f1, %f1 : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %do = dist.convert %dy over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %du2 = matmul %f, %do "b s f, b s h -> f h" : tensor<?x4x6xf32>, tensor<?x4x8xf32> -> tensor<6x8xf32>
    %df = linear transposed %do, %u2 : tensor<?x4x8xf32>, tensor<6x8xf32> -> tensor<?x4x6xf32>
    %d1 = mul %df, %f1 : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %df1 = add %d1, %d1 : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %du1 = matmul %r, %df1 "b s h, b s f -> h f" : tensor<?x4x8xf32>, tensor<?x4x6xf32> -> tensor<8x6xf32>
    %dc1a = sum %df1 : tensor<?x4x6xf32> -> tensor<6xf32>
    %dr = linear transposed %df1, %u1 : tensor<?x4x6xf32>, tensor<8x6xf32> -> tensor<?x4x8xf32>
    %da = dist.convert %dr over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    return %da, %du1, %dc1a, %du2 : tensor<?x4x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6x8xf32>
  }
)mlir";
const char *const plainSquare = R"mlir(
  %f0 = linear %n, %w1 : tensor<?x4x8xf32>, tensor<8x12xf32> -> tensor<?x4x12xf32>
  %f1 = add %f0, %b1 : tensor<?x4x12xf32>, tensor<12xf32> -> tensor<?x4x12xf32>
  %f = mul %f1, %f1 : tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %m = linear %f, %w2 : tensor<?x4x12xf32>, tensor<12x8xf32> -> tensor<?x4x8xf32>
)mlir";
} // namespace

static TestModel modelOf(const char *name, const char *feedForward) {
  static std::vector<std::unique_ptr<std::string>> texts; // live as long as the program
  texts.push_back(std::make_unique<std::string>(modelWith(feedForward)));
  return {name, texts.back()->c_str(), 4, 13};
}
const TestModel plainBlock = modelOf("plain", plain), squareBlock = modelOf("square", plainSquare);
const TestModel megatronRegion = modelOf("megatron", megatron), openRegion = modelOf("open", open);
const TestModel sequenceRegion = modelOf("sequence", sequence), tokensRegion = modelOf("tokens", tokens);
const TestModel byHandRegion = modelOf("by_hand", byHand);
} // namespace hocket::testing
