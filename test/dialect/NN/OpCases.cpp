// The cases: every op of the mathematics, with small odd sizes, and each of its variants.
#include "test/dialect/NN/OpCase.h"

namespace hocket::nn::test {
static std::vector<OpCase> lookups() {
  return {
      {"positions", "", "%y = nn.positions : tensor<3x5xi32>"},
      {"embedding",
       "%i: tensor<2x5xi32>, %t: tensor<7x3xf32>",
       "%y = nn.embedding %i, %t : tensor<2x5xi32>, tensor<7x3xf32> -> tensor<2x5x3xf32>",
       {0, 7}},
      {"embedding_grad",
       "%i: tensor<2x5xi32>, %d: tensor<2x5x3xf32>",
       "%y = nn.embedding_grad %i, %d : tensor<2x5xi32>, tensor<2x5x3xf32> -> tensor<7x3xf32>",
       {0, 7}},
  };
}

static std::vector<OpCase> products() {
  return {
      {"linear", "%x: tensor<3x2x5xf32>, %w: tensor<5x4xf32>",
       "%y = nn.linear %x, %w : tensor<3x2x5xf32>, tensor<5x4xf32> -> tensor<3x2x4xf32>"},
      {"linear_heads", "%x: tensor<2x3x5xf32>, %w: tensor<5x3x2x4xf32>",
       "%y = nn.linear %x, %w : tensor<2x3x5xf32>, tensor<5x3x2x4xf32> -> tensor<2x3x3x2x4xf32>"},
      {"linear_two_contracted", "%x: tensor<2x3x5x2xf32>, %w: tensor<5x2x7xf32>",
       "%y = nn.linear %x, %w : tensor<2x3x5x2xf32>, tensor<5x2x7xf32> -> tensor<2x3x7xf32>"},
      {"linear_transposed", "%x: tensor<2x3x5xf32>, %w: tensor<7x5xf32>",
       "%y = nn.linear transposed %x, %w : tensor<2x3x5xf32>, tensor<7x5xf32> -> tensor<2x3x7xf32>"},
      {"linear_two_kept_two_contracted", "%x: tensor<3x2x5xf32>, %w: tensor<2x5x3x2xf32>",
       "%y = nn.linear %x, %w : tensor<3x2x5xf32>, tensor<2x5x3x2xf32> -> tensor<3x3x2xf32>"},
      {"linear_row", "%x: tensor<5xf32>, %w: tensor<5xf32>",
       "%y = nn.linear %x, %w : tensor<5xf32>, tensor<5xf32> -> tensor<f32>"},
      {"matmul", "%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>",
       "%y = nn.matmul %a, %b \"b s n d, h n d -> b s h\" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> "
       "tensor<2x3x7xf32>"},
      {"matmul_weight", "%a: tensor<2x3x5xf32>, %b: tensor<2x3x4x2xf32>",
       "%y = nn.matmul %a, %b \"b s h, b s n d -> h n d\" : tensor<2x3x5xf32>, tensor<2x3x4x2xf32> -> "
       "tensor<5x4x2xf32>"},
      {"matmul_batch", "%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x5x3xf32>",
       "%y = nn.matmul %a, %b \"b e t h, b e h f -> b e f t\" : tensor<2x3x4x5xf32>, tensor<2x3x5x3xf32> -> "
       "tensor<2x3x3x4xf32>"},
  };
}

static std::vector<OpCase> norms() {
  return {
      {"layer_norm", "%x: tensor<2x3x5xf32>, %g: tensor<5xf32>, %b: tensor<5xf32>",
       "%y = nn.layer_norm %x, %g, %b eps(1e-3) : tensor<2x3x5xf32>, tensor<5xf32>, tensor<5xf32> -> "
       "tensor<2x3x5xf32>"},
      {"layer_norm_grad", "%d: tensor<2x3x5xf32>, %x: tensor<2x3x5xf32>, %g: tensor<5xf32>",
       "%y = nn.layer_norm_grad %d, %x, %g : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<5xf32> -> tensor<2x3x5xf32>"},
      {"layer_norm_param_grad", "%d: tensor<2x3x5xf32>, %x: tensor<2x3x5xf32>",
       "%g, %b = nn.layer_norm_param_grad %d, %x : tensor<2x3x5xf32>, tensor<2x3x5xf32> -> tensor<5xf32>, "
       "tensor<5xf32>"},
      {"rms_norm", "%x: tensor<2x3x5xf32>, %g: tensor<5xf32>",
       "%y = nn.rms_norm %x, %g eps(1e-3) : tensor<2x3x5xf32>, tensor<5xf32> -> tensor<2x3x5xf32>"},
      {"rms_norm_grad", "%d: tensor<2x3x5xf32>, %x: tensor<2x3x5xf32>, %g: tensor<5xf32>",
       "%y = nn.rms_norm_grad %d, %x, %g : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<5xf32> -> tensor<2x3x5xf32>"},
      {"rms_norm_param_grad", "%d: tensor<2x3x5xf32>, %x: tensor<2x3x5xf32>",
       "%g = nn.rms_norm_param_grad %d, %x : tensor<2x3x5xf32>, tensor<2x3x5xf32> -> tensor<5xf32>"},
  };
}

static OpCase rope(std::string name, std::string options, std::string before = "") {
  return {name,
          "%x: tensor<2x5x3x6xf32>, %p: tensor<2x5xi32>",
          "%y = nn.rope " + before + " %x at %p " + options +
              " : tensor<2x5x3x6xf32>, tensor<2x5xi32> -> tensor<2x5x3x6xf32>",
          {3, 3}};
}
static std::vector<OpCase> ropes() {
  return {rope("rope", ""), rope("rope_partial", "dims(4)"), rope("rope_interleaved", "theta(100.0) interleaved"),
          rope("rope_scaled", "dims(2) position_scale(0.25)"), rope("rope_inverse", "", "inverse")};
}

/// Options may begin with "documents ": then the tokens' documents are arguments too.
static OpCase attention(std::string name, std::string options, bool grouped = false, bool lse = false) {
  bool documents = options.starts_with("documents ");
  if (documents)
    options.insert(10, "%c, %c ");
  std::string q = grouped ? "tensor<2x4x2x3x5xf32>" : "tensor<2x4x3x5xf32>";
  std::string k = grouped ? "tensor<2x4x2x5xf32>" : "tensor<2x4x3x5xf32>";
  std::string v = grouped ? "tensor<2x4x2x3xf32>" : "tensor<2x4x3x2xf32>";
  std::string y = grouped ? "tensor<2x4x2x3x3xf32>" : "tensor<2x4x3x2xf32>";
  std::string kept = grouped ? "tensor<2x4x2x3xf32>" : "tensor<2x4x3xf32>";
  return {name,
          "%q: " + q + ", %k: " + k + ", %v: " + v + ", %p: tensor<2x4xi32>" +
              (documents ? ", %c: tensor<2x4xi32>" : ""),
          (lse ? "%y, %lse = " : "%y = ") + ("nn.attention %q, %k, %v at %p, %p " + options) + " : " + q + ", " + k +
              ", " + v + ", tensor<2x4xi32>, tensor<2x4xi32>" +
              (documents ? ", tensor<2x4xi32>, tensor<2x4xi32>" : "") + " -> " + y + (lse ? ", " + kept : ""),
          documents ? Integers{0, 1} : Integers()};
}
static OpCase attentionGrad(std::string name, bool grouped, bool documents = false) {
  OpCase forward =
      attention(name, std::string(documents ? "documents " : "") + "causal scale(0.4) softcap(2.0)", grouped, true);
  std::string q = grouped ? "tensor<2x4x2x3x5xf32>" : "tensor<2x4x3x5xf32>";
  std::string k = grouped ? "tensor<2x4x2x5xf32>" : "tensor<2x4x3x5xf32>";
  std::string v = grouped ? "tensor<2x4x2x3xf32>" : "tensor<2x4x3x2xf32>";
  std::string y = grouped ? "tensor<2x4x2x3x3xf32>" : "tensor<2x4x3x2xf32>";
  std::string kept = grouped ? "tensor<2x4x2x3xf32>" : "tensor<2x4x3xf32>";
  std::string p = "tensor<2x4xi32>";
  forward.arguments += ", %dy: " + y;
  forward.body += "\n%dq, %dk, %dv = nn.attention_grad %dy, %q, %k, %v at %p, %p, %y, %lse " +
                  std::string(documents ? "documents %c, %c " : "") + "causal scale(0.4) softcap(2.0) : " + y + ", " +
                  q + ", " + k + ", " + v + ", " + p + ", " + p + ", " + y + ", " + kept +
                  (documents ? ", " + p + ", " + p : "") + " -> " + q + ", " + k + ", " + v;
  return forward;
}
static std::vector<OpCase> attentions() {
  return {attention("attention", "full scale(0.4)"),
          attention("attention_causal", "causal scale(0.4)", false, true),
          attention("attention_window", "causal scale(0.4) window(2)"),
          attention("attention_softcap", "causal scale(0.9) softcap(1.5)", false, true),
          attention("attention_grouped", "causal scale(0.4)", true),
          attention("attention_grouped_everything", "causal scale(0.9) window(3) softcap(1.5)", true, true),
          attentionGrad("attention_grad", false),
          attentionGrad("attention_grad_grouped", true),
          attention("attention_documents", "documents full scale(0.4)"),
          attention("attention_documents_causal", "documents causal scale(0.4)", true, true),
          attentionGrad("attention_grad_documents", false, true),
          {"attention_merge",
           "%a: tensor<2x3x4x5xf32>, %m: tensor<2x3x4xf32>, %b: tensor<2x3x4x5xf32>, %n: tensor<2x3x4xf32>",
           "%y, %l = nn.attention_merge %a, %m, %b, %n : tensor<2x3x4x5xf32>, tensor<2x3x4xf32>, tensor<2x3x4x5xf32>, "
           "tensor<2x3x4xf32> -> tensor<2x3x4x5xf32>, tensor<2x3x4xf32>"}};
}

static std::vector<OpCase> scalars() {
  std::string x = "%x: tensor<3x5xf32>", unary = " %x : tensor<3x5xf32> -> tensor<3x5xf32>";
  std::string ab = "%a: tensor<2x3x5xf32>, %b: tensor<3x5xf32>";
  std::string trailing = " %a, %b : tensor<2x3x5xf32>, tensor<3x5xf32> -> tensor<2x3x5xf32>";
  return {
      {"gelu", x, "%y = nn.gelu" + unary},
      {"silu", x, "%y = nn.silu" + unary},
      {"add", ab, "%y = nn.add" + trailing},
      {"add_equal", x, "%y = nn.add %x, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>"},
      {"mul", ab, "%y = nn.mul" + trailing},
      {"mul_scalar", "%a: tensor<3x5xf32>, %b: tensor<f32>",
       "%y = nn.mul %a, %b : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>"},
      {"elementwise", "%x: tensor<2x5xf32>, %g: tensor<5xf32>, %s: tensor<f32>", R"(
%y, %z = nn.elementwise "gate" %x, %g, %s : tensor<2x5xf32>, tensor<5xf32>, tensor<f32> -> tensor<2x5xf32>, tensor<2x5xf32> {
^bb0(%a: f32, %b: f32, %c: f32):
  %0 = arith.mulf %a, %b : f32
  %1 = math.tanh %0 : f32
  %2 = arith.addf %1, %c : f32
  nn.return %2, %0 : f32, f32
})"},
  };
}

static std::vector<OpCase> shapes() {
  return {
      {"unstack", "%x: tensor<2x3x5xf32>",
       "%a, %b, %c = nn.unstack %x dim 1 : tensor<2x3x5xf32> -> tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>"},
      {"unstack_vector", "%x: tensor<2xf32>",
       "%a, %b = nn.unstack %x dim 0 : tensor<2xf32> -> tensor<f32>, tensor<f32>"},
      {"stack", "%a: tensor<2x5xf32>, %b: tensor<2x5xf32>",
       "%y = nn.stack %a, %b dim 2 : tensor<2x5xf32>, tensor<2x5xf32> -> tensor<2x5x2xf32>"},
      {"sum", "%x: tensor<2x3x5xf32>", "%y = nn.sum %x : tensor<2x3x5xf32> -> tensor<5xf32>"},
      {"sum_all", "%x: tensor<3x5xf32>", "%y = nn.sum %x : tensor<3x5xf32> -> tensor<f32>"},
  };
}

static std::vector<OpCase> joins() {
  return {
      {"concat", "%a: tensor<2x3x2xf32>, %b: tensor<2x3x5xf32>",
       "%y = nn.concat %a, %b dim 2 : tensor<2x3x2xf32>, tensor<2x3x5xf32> -> tensor<2x3x7xf32>"},
      {"concat_three", "%a: tensor<2x1x3xf32>, %b: tensor<2x3x3xf32>, %c: tensor<2x2x3xf32>",
       "%y = nn.concat %a, %b, %c dim 1 : tensor<2x1x3xf32>, tensor<2x3x3xf32>, tensor<2x2x3xf32> -> "
       "tensor<2x6x3xf32>"},
      {"part", "%x: tensor<2x7x3xf32>", "%y = nn.part %x dim 1 from 2 : tensor<2x7x3xf32> -> tensor<2x4x3xf32>"},
      {"pad", "%x: tensor<2x4x3xf32>", "%y = nn.pad %x dim 1 from 2 : tensor<2x4x3xf32> -> tensor<2x7x3xf32>"},
      {"spread", "%x: tensor<2x3x5xf32>", "%y = nn.spread %x dim 2 : tensor<2x3x5xf32> -> tensor<2x3x4x5xf32>"},
      {"sum_over", "%x: tensor<2x3x4x5xf32>", "%y = nn.sum_over %x dim 2 : tensor<2x3x4x5xf32> -> tensor<2x3x5xf32>"},
  };
}

static std::vector<OpCase> dropouts() {
  std::string x = "tensor<3x4x6xf32>", heads = "tensor<3x4x5x2xf32>", rest = "%p: tensor<3x4xi32>, %d: tensor<3xi32>";
  return {
      {"dropout",
       "%x: " + x + ", " + rest,
       "%y = nn.dropout %x at %p rate(0.25) draws %d of [6] stream \"h.3.mlp\" : " + x +
           ", tensor<3x4xi32>, tensor<3xi32> -> " + x,
       {1, 1000}},
      {"dropout_heads",
       "%x: " + heads + ", " + rest,
       "%y = nn.dropout %x at %p rate(0.5) draws %d of [5, 2] stream \"h.3.attn\" : " + heads +
           ", tensor<3x4xi32>, tensor<3xi32> -> " + heads,
       {1, 1000}},
      {"dropout_without_draws", "%x: " + x + ", %p: tensor<3x4xi32>",
       "%y = nn.dropout %x at %p rate(0.25) : " + x + ", tensor<3x4xi32> -> " + x},
  };
}

static std::vector<OpCase> losses() {
  std::string logits = "%x: tensor<2x3x7xf32>, %i: tensor<2x3xi32>";
  return {
      {"cross_entropy",
       logits,
       "%s, %c = nn.cross_entropy %x, %i : tensor<2x3x7xf32>, tensor<2x3xi32> -> tensor<f32>, tensor<i64>",
       {-1, 7}},
      {"cross_entropy_lse",
       logits,
       "%s, %c, %l = nn.cross_entropy %x, %i : tensor<2x3x7xf32>, tensor<2x3xi32> -> tensor<f32>, tensor<i64>, "
       "tensor<2x3xf32>",
       {-1, 7}},
      {"cross_entropy_grad",
       "%d: tensor<f32>, " + logits + ", %l: tensor<2x3xf32>",
       "%y = nn.cross_entropy_grad %d, %x, %i, %l : tensor<f32>, tensor<2x3x7xf32>, tensor<2x3xi32>, tensor<2x3xf32> "
       "-> tensor<2x3x7xf32>",
       {-1, 7}},
      {"row_max", "%x: tensor<2x3x7xf32>", "%y = nn.row_max %x : tensor<2x3x7xf32> -> tensor<2x3xf32>"},
      {"row_sum_exp", "%x: tensor<2x3x7xf32>, %m: tensor<2x3xf32>",
       "%y = nn.row_sum_exp %x, %m : tensor<2x3x7xf32>, tensor<2x3xf32> -> tensor<2x3xf32>"},
      {"pick", logits, "%y = nn.pick %x, %i : tensor<2x3x7xf32>, tensor<2x3xi32> -> tensor<2x3xf32>", {-1, 7}},
      {"count_tokens", "%i: tensor<3x2x5xi32>", "%c = nn.count_tokens %i : tensor<3x2x5xi32> -> tensor<i64>", {-1, 2}},
  };
}

static std::vector<OpCase> optimizers() {
  std::string t = "tensor<3x5xf32>", s = "tensor<f32>";
  return {
      {"square_sum", "%x: tensor<3x5xf32>", "%y = nn.square_sum %x : tensor<3x5xf32> -> tensor<f32>"},
      {"cosine_rate",
       "%s: tensor<i64>",
       "%r = nn.cosine_rate %s cosine(peak = 1e-3, warmup = 4, decay = 20, floor = 1e-4) : tensor<i64> -> tensor<f32>",
       {7, 7}},
      {"adamw",
       "%p: " + t + ", %g: " + t + ", %m: " + t + ", %v: " + t + ", %r: " + s + ", %c: " + s + ", %s: tensor<i64>",
       "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.9, 0.95], weight_decay = 0.1, "
       "lr_scale = 0.5) : " +
           t + ", " + t + ", " + t + ", " + t + ", " + s + ", " + s + ", tensor<i64> -> " + t + ", " + t + ", " + t,
       {3, 3},
       true},
      {"adamw_unless",
       "%p: " + t + ", %g: " + t + ", %m: " + t + ", %v: " + t + ", %r: " + s + ", %c: " + s +
           ", %s: tensor<i64>, %o: " + s,
       "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %s unless %o (betas = [0.9, 0.95], "
       "weight_decay = 0.1, lr_scale = 0.5) : " +
           t + ", " + t + ", " + t + ", " + t + ", " + s + ", " + s + ", tensor<i64>, " + s + " -> " + t + ", " + t +
           ", " + t,
       {3, 3},
       true},
      {"cast", "%x: tensor<2x3xf32>", "%y = nn.cast %x : tensor<2x3xf32> -> tensor<2x3xbf16>"},
      {"cast_summands", "%x: tensor<2x3xbf16>", "%y = nn.cast summands %x : tensor<2x3xbf16> -> tensor<2x3xf32>"},
  };
}

/// Two sequences of 6 tokens, 4 experts that take 2 of each: some find no place.
static std::vector<OpCase> experts() {
  std::string l = "tensor<2x6x4xf32>", p = "tensor<2x6xi32>", k = "tensor<2x6x2x", c = "tensor<2x4x2xi32>";
  std::string arguments = "%l: " + l + ", %p: " + p;
  auto router = [&](std::string name, std::string options) -> OpCase {
    return {name, arguments,
            "%w, %s, %t, %b = nn.router %l at %p top 2 " + options + " : " + l + ", " + p + " -> " + k + "f32>, " + k +
                "i32>, " + c + ", tensor<2xf32>"};
  };
  auto routed = [&](std::string name, std::string more, std::string body) -> OpCase {
    OpCase each = router(name, "");
    each.arguments += ", " + more;
    each.body += "\n" + body;
    return each;
  };
  auto grad = [&](std::string name, std::string options, bool load) -> OpCase {
    return {name, "%d: " + k + "f32>, %l: " + l + (load ? ", %g: tensor<2xf32>" : ""),
            "%y = nn.router_grad %d, %l " + std::string(load ? "load %g " : "") + "top 2 " + options + " : " + k +
                "f32>, " + l + (load ? ", tensor<2xf32>" : "") + " -> " + l};
  };
  std::string x = "tensor<2x6x3xf32>", y = "tensor<4x2x2x3xf32>";
  std::string route = k + "i32>, " + c, weighted = " weighted %v", weights = ", " + k + "f32>";
  return {
      {"router_logits", "%x: tensor<2x6x5xf32>, %w: tensor<5x4xf32>",
       "%y = nn.router_logits %x, %w : tensor<2x6x5xf32>, tensor<5x4xf32> -> " + l},
      router("router", "balance(0.5)"),
      router("router_normalized", "normalized scale(2.5)"),
      router("router_sigmoid", "sigmoid balance(0.5)"),
      router("router_sigmoid_normalized", "sigmoid normalized scale(2.5) balance(0.5)"),
      grad("router_grad", "normalized", false),
      grad("router_grad_load", "sigmoid normalized balance(0.5)", true),
      routed("dispatch", "%x: " + x, "%y = nn.dispatch %x by %s, %t : " + x + ", " + route + " -> " + y),
      routed("dispatch_weighted", "%x: " + x + ", %v: " + k + "f32>",
             "%y = nn.dispatch %x by %s, %t" + weighted + " : " + x + ", " + route + weights + " -> " + y),
      routed("combine", "%x: " + y, "%y = nn.combine %x by %s, %t : " + y + ", " + route + " -> " + x),
      routed("combine_weighted", "%x: " + y + ", %v: " + k + "f32>",
             "%y = nn.combine %x by %s, %t" + weighted + " : " + y + ", " + route + weights + " -> " + x),
      routed("combine_grad", "%x: " + y + ", %d: " + x,
             "%y = nn.combine_grad %x, %d by %s : " + y + ", " + x + ", " + k + "i32> -> " + k + "f32>"),
  };
}

const std::vector<OpCase> &allCases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all;
    for (const auto &group : {lookups(), products(), norms(), ropes(), attentions(), scalars(), shapes(), joins(),
                              dropouts(), losses(), optimizers(), experts(), regions()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return cases;
}
} // namespace hocket::nn::test
