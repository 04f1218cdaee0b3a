// Writes models.
#include "test/passes/Dist/AutoSplitModels.h"
#include "llvm/ADT/StringRef.h"
#include <map>

namespace hocket::testing {
namespace {
/// Puts sizes and names into a text: `$h$` is the hidden size, `$x$` the type of activations.
std::string filled(llvm::StringRef text, const std::map<std::string, std::string> &words) {
  std::string out;
  while (!text.empty()) {
    auto [before, rest] = text.split("$");
    out += before;
    auto [word, after] = rest.split("$");
    if (auto at = words.find(word.str()); at != words.end())
      out += filled(at->second, words);
    text = after;
  }
  return out;
}

std::map<std::string, std::string> sizeWords(const ModelSizes &s) {
  auto text = [](int64_t n) { return std::to_string(n); };
  return {{"h", text(s.hidden)},          {"n", text(s.heads)},
          {"kv", text(s.kvHeads)},        {"g", text(s.heads / s.kvHeads)},
          {"d", text(s.headSize)},        {"f", text(s.feedForward)},
          {"v", text(s.vocabulary)},      {"s", text(s.sequence)},
          {"x", "tensor<?x$s$x$h$xf32>"}, {"pos", "tensor<?x$s$xi32>"}};
}

/// The layers of a model in a row, by `repeat` or by a call each.
std::string layersText(const ModelSizes &sizes, bool numbered, const std::string &name, bool positions) {
  std::string more = positions ? ", %pos" : "", types = positions ? "$x$, $pos$ -> $x$" : "$x$";
  if (numbered)
    return "  %y = repeat @layer(%x" + more + ") " + std::to_string(sizes.layers) + " as \"" + name + "\" : " + types +
           "\n";
  static const char *const names[] = {"first", "second", "third", "fourth"};
  std::string out, from = "%x";
  for (int64_t i = 0; i < sizes.layers; ++i) {
    std::string to = i + 1 == sizes.layers ? "%y" : "%y_" + std::to_string(i);
    out += "  " + to + " = call @layer(" + from + more + ") as \"" + names[i] +
           "\" : " + (positions ? "$x$, $pos$ -> $x$" : "$x$ -> $x$") + "\n";
    from = to;
  }
  return out;
}
} // namespace

std::string gptText(const ModelSizes &sizes, const ModelStyle &style) {
  auto words = sizeWords(sizes);
  words["layers"] = layersText(sizes, style.numbered, style.plainNames ? "h" : "x", true);
  const char *names[][2] = {{"wte", "table"},  {"wpe", "places"},  {"ln_1", "p"},
                            {"attn.qkv", "q"}, {"attn.proj", "r"}, {"ln_2", "s"},
                            {"mlp.fc", "t"},   {"mlp.proj", "u"},  {"ln_f", "last"}};
  for (auto [plain, other] : names)
    words[std::string("name ") + plain] = style.plainNames ? plain : other;
  words["fc type"] = style.transposed ? "tensor<$f$x$h$xf32>" : "tensor<$h$x$f$xf32>";
  words["out type"] = style.transposed ? "tensor<$h$x$f$xf32>" : "tensor<$f$x$h$xf32>";
  words["linear"] = style.transposed ? "linear transposed" : "linear";
  return filled(R"mlir(
nn.block @layer(%x: $x$, %pos: $pos$) -> $x$ {
  %g1 = param "$name ln_1$.weight" : tensor<$h$xf32> init ones
  %b1 = param "$name ln_1$.bias" : tensor<$h$xf32> init zeros
  %qkv_w = param "$name attn.qkv$.weight" : tensor<$h$x3x$n$x$d$xf32> init normal(0.02)
  %qkv_b = param "$name attn.qkv$.bias" : tensor<3x$n$x$d$xf32> init zeros
  %proj_w = param "$name attn.proj$.weight" : tensor<$n$x$d$x$h$xf32> init normal(0.02)
  %proj_b = param "$name attn.proj$.bias" : tensor<$h$xf32> init zeros
  %g2 = param "$name ln_2$.weight" : tensor<$h$xf32> init ones
  %b2 = param "$name ln_2$.bias" : tensor<$h$xf32> init zeros
  %fc_w = param "$name mlp.fc$.weight" : $fc type$ init normal(0.02)
  %fc_b = param "$name mlp.fc$.bias" : tensor<$f$xf32> init zeros
  %out_w = param "$name mlp.proj$.weight" : $out type$ init normal(0.02)
  %out_b = param "$name mlp.proj$.bias" : tensor<$h$xf32> init zeros
  %n1 = layer_norm %x, %g1, %b1 : $x$, tensor<$h$xf32>, tensor<$h$xf32> -> $x$
  %qkv0 = linear %n1, %qkv_w : $x$, tensor<$h$x3x$n$x$d$xf32> -> tensor<?x$s$x3x$n$x$d$xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x$s$x3x$n$x$d$xf32>, tensor<3x$n$x$d$xf32> -> tensor<?x$s$x3x$n$x$d$xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x$s$x3x$n$x$d$xf32> -> tensor<?x$s$x$n$x$d$xf32>, tensor<?x$s$x$n$x$d$xf32>, tensor<?x$s$x$n$x$d$xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x$s$x$n$x$d$xf32>, tensor<?x$s$x$n$x$d$xf32>, tensor<?x$s$x$n$x$d$xf32>, $pos$, $pos$ -> tensor<?x$s$x$n$x$d$xf32>
  %p0 = linear %a, %proj_w : tensor<?x$s$x$n$x$d$xf32>, tensor<$n$x$d$x$h$xf32> -> $x$
  %p = add %p0, %proj_b : $x$, tensor<$h$xf32> -> $x$
  %r = add %x, %p : $x$, $x$ -> $x$
  %n2 = layer_norm %r, %g2, %b2 : $x$, tensor<$h$xf32>, tensor<$h$xf32> -> $x$
  %f0 = $linear$ %n2, %fc_w : $x$, $fc type$ -> tensor<?x$s$x$f$xf32>
  %f1 = add %f0, %fc_b : tensor<?x$s$x$f$xf32>, tensor<$f$xf32> -> tensor<?x$s$x$f$xf32>
  %f = gelu %f1 : tensor<?x$s$x$f$xf32> -> tensor<?x$s$x$f$xf32>
  %o0 = $linear$ %f, %out_w : tensor<?x$s$x$f$xf32>, $out type$ -> $x$
  %o = add %o0, %out_b : $x$, tensor<$h$xf32> -> $x$
  %y = add %r, %o : $x$, $x$ -> $x$
  return %y : $x$
}
nn.model @model(%tokens: $pos$, %next: $pos$) -> (tensor<f32>, tensor<i64>) {
  %wte = param "$name wte$" : tensor<$v$x$h$xf32> init normal(0.02)
  %wpe = param "$name wpe$" : tensor<$s$x$h$xf32> init normal(0.02)
  %pos = positions : $pos$
  %te = embedding %tokens, %wte : $pos$, tensor<$v$x$h$xf32> -> $x$
  %pe = embedding %pos, %wpe : $pos$, tensor<$s$x$h$xf32> -> $x$
  %x = add %te, %pe : $x$, $x$ -> $x$
$layers$
  %g = param "$name ln_f$.weight" : tensor<$h$xf32> init ones
  %b = param "$name ln_f$.bias" : tensor<$h$xf32> init zeros
  %n = layer_norm %y, %g, %b : $x$, tensor<$h$xf32>, tensor<$h$xf32> -> $x$
  %logits = linear transposed %n, %wte : $x$, tensor<$v$x$h$xf32> -> tensor<?x$s$x$v$xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x$s$x$v$xf32>, $pos$ -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir",
                words);
}

std::string llamaText(const ModelSizes &sizes) {
  auto words = sizeWords(sizes);
  words["layers"] = layersText(sizes, true, "layers", true);
  words["q"] = "tensor<?x$s$x$kv$x$g$x$d$xf32>";
  words["k"] = "tensor<?x$s$x$kv$x$d$xf32>";
  return filled(R"mlir(
nn.block @layer(%x: $x$, %pos: $pos$) -> $x$ {
  %g1 = param "attn_norm.weight" : tensor<$h$xf32> init ones
  %q_w = param "attn.q.weight" : tensor<$h$x$kv$x$g$x$d$xf32> init normal(0.02)
  %kv_w = param "attn.kv.weight" : tensor<$h$x2x$kv$x$d$xf32> init normal(0.02)
  %o_w = param "attn.o.weight" : tensor<$kv$x$g$x$d$x$h$xf32> init normal(0.02)
  %g2 = param "mlp_norm.weight" : tensor<$h$xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<$h$x2x$f$xf32> init normal(0.02)
  %down_w = param "mlp.down.weight" : tensor<$f$x$h$xf32> init normal(0.02)
  %n1 = rms_norm %x, %g1 : $x$, tensor<$h$xf32> -> $x$
  %q0 = linear %n1, %q_w : $x$, tensor<$h$x$kv$x$g$x$d$xf32> -> $q$
  %kv = linear %n1, %kv_w : $x$, tensor<$h$x2x$kv$x$d$xf32> -> tensor<?x$s$x2x$kv$x$d$xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x$s$x2x$kv$x$d$xf32> -> $k$, $k$
  %q = rope %q0 at %pos : $q$, $pos$ -> $q$
  %k = rope %k0 at %pos : $k$, $pos$ -> $k$
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : $q$, $k$, $k$, $pos$, $pos$ -> $q$
  %p = linear %a, %o_w : $q$, tensor<$kv$x$g$x$d$x$h$xf32> -> $x$
  %r = add %x, %p : $x$, $x$ -> $x$
  %n2 = rms_norm %r, %g2 : $x$, tensor<$h$xf32> -> $x$
  %gu = linear %n2, %up_w : $x$, tensor<$h$x2x$f$xf32> -> tensor<?x$s$x2x$f$xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x$s$x2x$f$xf32> -> tensor<?x$s$x$f$xf32>, tensor<?x$s$x$f$xf32>
  %s = silu %g : tensor<?x$s$x$f$xf32> -> tensor<?x$s$x$f$xf32>
  %m = mul %s, %u : tensor<?x$s$x$f$xf32>, tensor<?x$s$x$f$xf32> -> tensor<?x$s$x$f$xf32>
  %d = linear %m, %down_w : tensor<?x$s$x$f$xf32>, tensor<$f$x$h$xf32> -> $x$
  %y = add %r, %d : $x$, $x$ -> $x$
  return %y : $x$
}
nn.model @model(%tokens: $pos$, %next: $pos$) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<$v$x$h$xf32> init normal(0.02)
  %pos = positions : $pos$
  %x = embedding %tokens, %embed : $pos$, tensor<$v$x$h$xf32> -> $x$
$layers$
  %g = param "norm.weight" : tensor<$h$xf32> init ones
  %n = rms_norm %y, %g : $x$, tensor<$h$xf32> -> $x$
  %head = param "head.weight" : tensor<$h$x$v$xf32> init normal(0.02)
  %logits = linear %n, %head : $x$, tensor<$h$x$v$xf32> -> tensor<?x$s$x$v$xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x$s$x$v$xf32>, $pos$ -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir",
                words);
}

std::string mlpText(const ModelSizes &sizes) {
  auto words = sizeWords(sizes);
  words["layers"] = layersText(sizes, true, "block", false);
  return filled(R"mlir(
nn.block @layer(%x: $x$) -> $x$ {
  %g = param "norm" : tensor<$h$xf32> init ones
  %a_w = param "a" : tensor<$h$x$f$xf32> init normal(0.02)
  %b_w = param "b" : tensor<$f$x$h$xf32> init normal(0.02)
  %n = rms_norm %x, %g : $x$, tensor<$h$xf32> -> $x$
  %a = linear %n, %a_w : $x$, tensor<$h$x$f$xf32> -> tensor<?x$s$x$f$xf32>
  %c = silu %a : tensor<?x$s$x$f$xf32> -> tensor<?x$s$x$f$xf32>
  %b = linear %c, %b_w : tensor<?x$s$x$f$xf32>, tensor<$f$x$h$xf32> -> $x$
  %y = add %x, %b : $x$, $x$ -> $x$
  return %y : $x$
}
nn.model @model(%tokens: $pos$, %next: $pos$) -> (tensor<f32>, tensor<i64>) {
  %table = param "table" : tensor<$v$x$h$xf32> init normal(0.02)
  %x = embedding %tokens, %table : $pos$, tensor<$v$x$h$xf32> -> $x$
$layers$
  %head = param "head" : tensor<$h$x$v$xf32> init normal(0.02)
  %logits = linear %y, %head : $x$, tensor<$h$x$v$xf32> -> tensor<?x$s$x$v$xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x$s$x$v$xf32>, $pos$ -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir",
                words);
}
} // namespace hocket::testing
