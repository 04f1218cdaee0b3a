// The factor rule of every case, word for word: what may be split and how each operand may be partial. Beside it one
// letter an operand: N none, M multilinear, J jointly linear.
#include "test/dialect/NN/OpCase.h"
#include <map>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
struct Expected {
  std::string rule, linearity;
};
const std::map<std::string, Expected> &expected() {
  static const std::map<std::string, Expected> rules = {
      {"positions", {"-> b @s", ""}},
      {"embedding", {"b s, @v h -> b s h", "NM"}},
      {"embedding_grad", {"b s, b s h -> @v h", "NM"}},
      {"linear", {"b s h, h f -> b s f", "MM"}},
      {"linear_heads", {"b s h, h c n d -> b s c n d", "MM"}},
      {"linear_two_contracted", {"b s n d, n d h -> b s h", "MM"}},
      {"linear_transposed", {"b s h, v h -> b s v", "MM"}},
      {"linear_two_kept_two_contracted", {"b n d, n d o0 o1 -> b o0 o1", "MM"}},
      {"linear_row", {"h, h -> _", "MM"}},
      {"matmul", {"b s n d, h n d -> b s h", "MM"}},
      {"matmul_weight", {"b s h, b s n d -> h n d", "MM"}},
      {"matmul_batch", {"b e t h, b e h f -> b e f t", "MM"}},
      {"layer_norm", {"b s !h, !h, !h -> b s !h", "NNN"}},
      {"layer_norm_grad", {"b s !h, b s !h, !h -> b s !h", "MNN"}},
      {"layer_norm_param_grad", {"b s !h, b s !h -> !h, !h", "MN"}},
      {"rms_norm", {"b s !h, !h -> b s !h", "NN"}},
      {"rms_norm_grad", {"b s !h, b s !h, !h -> b s !h", "MNN"}},
      {"rms_norm_param_grad", {"b s !h, b s !h -> !h", "MN"}},
      {"rope", {"b s n !d, b s -> b s n !d", "MN"}},
      {"rope_partial", {"b s n !d, b s -> b s n !d", "MN"}},
      {"rope_interleaved", {"b s n !d, b s -> b s n !d", "MN"}},
      {"rope_scaled", {"b s n !d, b s -> b s n !d", "MN"}},
      {"rope_inverse", {"b s n !d, b s -> b s n !d", "MN"}},
      {"attention", {"b s n !d, b !t n !d, b !t n !e, b s, b !t -> b s n !e", "NNNNN"}},
      {"attention_causal", {"b s n !d, b !t n !d, b !t n !e, b s, b !t -> b s n !e, b s n", "NNNNN"}},
      {"attention_window", {"b s n !d, b !t n !d, b !t n !e, b s, b !t -> b s n !e", "NNNNN"}},
      {"attention_softcap", {"b s n !d, b !t n !d, b !t n !e, b s, b !t -> b s n !e, b s n", "NNNNN"}},
      {"attention_grouped", {"b s kv g !d, b !t kv !d, b !t kv !e, b s, b !t -> b s kv g !e", "NNNNN"}},
      {"attention_grouped_everything",
       {"b s kv g !d, b !t kv !d, b !t kv !e, b s, b !t -> b s kv g !e, b s kv g", "NNNNN"}},
      {"attention_grad",
       {"b s n !e, b s n !d, b !t n !d, b !t n !e, b s, b !t, b s n !e, b s n -> b s n !d, b !t n !d, b !t n !e",
        "MNNNNNNN"}},
      {"attention_grad_grouped",
       {"b s kv g !e, b s kv g !d, b !t kv !d, b !t kv !e, b s, b !t, b s kv g !e, b s kv g -> b s kv g !d, b !t kv "
        "!d, b !t kv !e",
        "MNNNNNNN"}},
      {"attention_documents", {"b s n !d, b !t n !d, b !t n !e, b s, b !t, b s, b !t -> b s n !e", "NNNNNNN"}},
      {"attention_documents_causal",
       {"b s kv g !d, b !t kv !d, b !t kv !e, b s, b !t, b s, b !t -> b s kv g !e, b s kv g", "NNNNNNN"}},
      {"attention_merge", {"b s n !e, b s n, b s n !e, b s n -> b s n !e, b s n", "NNNN"}},
      {"attention_grad_documents",
       {"b s n !e, b s n !d, b !t n !d, b !t n !e, b s, b !t, b s n !e, b s n, b s, b !t -> b s n !d, b !t n !d, b !t "
        "n !e",
        "MNNNNNNNNN"}},
      {"gelu", {"d0 d1 -> d0 d1", "N"}},
      {"silu", {"d0 d1 -> d0 d1", "N"}},
      {"add", {"d0 d1 d2, d1 d2 -> d0 d1 d2", "JJ"}},
      {"add_equal", {"d0 d1, d0 d1 -> d0 d1", "JJ"}},
      {"mul", {"d0 d1 d2, d1 d2 -> d0 d1 d2", "MM"}},
      {"mul_scalar", {"d0 d1, _ -> d0 d1", "MM"}},
      {"elementwise", {"d0 d1, d1, _ -> d0 d1, d0 d1", "NNN"}},
      {"unstack", {"d0 !c d1 -> d0 d1, d0 d1, d0 d1", "J"}},
      {"unstack_vector", {"!c -> _, _", "J"}},
      {"stack", {"d0 d1, d0 d1 -> d0 d1 !c", "JJ"}},
      {"sum", {"d0 d1 d2 -> d2", "M"}},
      {"sum_all", {"d0 d1 -> _", "M"}},
      {"concat", {"d0 d1 !c0, d0 d1 !c1 -> d0 d1 !c", "JJ"}},
      {"concat_three", {"d0 !c0 d2, d0 !c1 d2, d0 !c2 d2 -> d0 !c d2", "JJJ"}},
      {"part", {"d0 !c d2 -> d0 !p d2", "J"}},
      {"pad", {"d0 !p d2 -> d0 !c d2", "J"}},
      {"spread", {"d0 d1 d3 -> d0 d1 n d3", "J"}},
      {"sum_over", {"d0 d1 n d3 -> d0 d1 d3", "M"}},
      {"dropout", {"b s @f2, b s, b -> b s @f2", "MNN"}},
      {"dropout_heads", {"b s @f2 @f3, b s, b -> b s @f2 @f3", "MNN"}},
      {"dropout_without_draws", {"b s @f2, b s -> b s @f2", "MN"}},
      {"cross_entropy", {"b s !v, b s -> _, _", "NN"}},
      {"cross_entropy_lse", {"b s !v, b s -> _, _, b s", "NN"}},
      {"cross_entropy_grad", {"_, b s @v, b s, b s -> b s @v", "MNNN"}},
      {"row_max", {"b s v -> b s", "N"}},
      {"row_sum_exp", {"b s v, b s -> b s", "NN"}},
      {"pick", {"b s @v, b s -> b s", "MN"}},
      {"count_tokens", {"d0 d1 d2 -> _", "N"}},
      {"square_sum", {"d0 d1 -> _", "N"}},
      {"cosine_rate", {"_ -> _", "N"}},
      {"adamw", {"d0 d1, d0 d1, d0 d1, d0 d1, _, _, _ -> d0 d1, d0 d1, d0 d1", "NNNNNNN"}},
      {"adamw_unless", {"d0 d1, d0 d1, d0 d1, d0 d1, _, _, _, _ -> d0 d1, d0 d1, d0 d1", "NNNNNNNN"}},
      {"local_megatron", {"d0 d1 !d2, !d2 !d3, !d3 d4 -> d0 d1 d4", "NNN"}},
      {"local_partial", {"d0 d1 !d2, !d2 !d3, !d3 d4 -> d0 d1 d4", "NNN"}},
      {"local_sequence", {"d0 !d1 !d2, !d2 !d3, !d3 d4 -> d0 !d1 d4", "NNN"}},
      {"local_exchange", {"d0 !d1 !d2, !d2 -> d0 !d1 !d2", "NN"}},
      {"local_two_axes", {"d0 !d1 !d2, !d2 !d3 -> d0 !d1 !d3", "NN"}},
      {"local_rows", {"d0 d1, !d2 d3 -> d0 d1 d3", "NN"}},
      {"local_by_hand", {"d0 d1, d1 !d2 -> d0 !d2", "NN"}},
      {"cast", {"d0 d1 -> d0 d1", "N"}},
      {"cast_summands", {"d0 d1 -> d0 d1", "J"}},
      {"router_logits", {"b s !h, !h !e -> b s !e", "MM"}},
      {"router", {"b !s !e, b !s -> b !s !k, b !s !k, b !n !c, b", "NN"}},
      {"router_normalized", {"b !s !e, b !s -> b !s !k, b !s !k, b !n !c, b", "NN"}},
      {"router_sigmoid", {"b !s !e, b !s -> b !s !k, b !s !k, b !n !c, b", "NN"}},
      {"router_sigmoid_normalized", {"b !s !e, b !s -> b !s !k, b !s !k, b !n !c, b", "NN"}},
      {"router_grad", {"b !s !k, b !s !e -> b !s !e", "NN"}},
      {"router_grad_load", {"b !s !k, b !s !e, b -> b !s !e", "NNN"}},
      {"dispatch", {"b !s h, b !s !k, b !n !c -> !e b !c h", "MNN"}},
      {"dispatch_weighted", {"b !s h, b !s !k, b !n !c, b !s !k -> !e b !c h", "MNNM"}},
      {"combine", {"!e b !c h, b !s !k, b !n !c -> b !s h", "MNN"}},
      {"combine_weighted", {"!e b !c h, b !s !k, b !n !c, b !s !k -> b !s h", "MNNM"}},
      {"combine_grad", {"!e b !c h, b !s h, b !s !k -> b !s !k", "MMN"}}};
  return rules;
}

std::string letters(const FactorRule &rule) {
  std::string text;
  for (Linearity each : rule.linearity)
    text += each == Linearity::None ? 'N' : each == Linearity::Multi ? 'M' : 'J';
  return text;
}
} // namespace

class FactorTextTest : public testing::TestWithParam<OpCase> {};

TEST_P(FactorTextTest, IsTheRuleOfTheOp) {
  Program program(GetParam());
  FactorRule rule = cast<FactorOpInterface>(program.op()).getFactorRule();
  auto found = expected().find(GetParam().name);
  ASSERT_NE(found, expected().end()) << "no rule is written here for " << GetParam().name;
  EXPECT_EQ(rule.str(), found->second.rule);
  EXPECT_EQ(letters(rule), found->second.linearity);
  EXPECT_EQ(rule.reduction, GetParam().name == "row_max" ? ReductionKind::Max : ReductionKind::Sum);
}

INSTANTIATE_TEST_SUITE_P(Ops, FactorTextTest, testing::ValuesIn(allCases()), caseName);
