// Every function of the language once. See everything.test.
#include <hocket/hocket.h>
using namespace hocket;

static Tensor swish(Tensor x) {
  return elementwise("swish", [](Scalar x) { return x / (1.0 + exp(-x)); }, x);
}

/// What it writes has the line of its caller.
static Tensor twice(Tensor x, Where where = Where::current()) { return add(x, x, where); }

/// Each scalar function once; the number has no meaning.
static Scalar allScalars(Scalar x, Scalar y) {
  Scalar a = abs(x) + cos(x) - erf(y) * sin(y) / tanh(x);
  Scalar b = max(log(a), 2.0) + min(0.5, sqrt(a)) + pow(rsqrt(a), 2.0);
  Scalar c = select(a < b, a, 0.0) + select(a > 1.0, 1.0, b);
  return c - 1.0;
}

int main(int argc, char **argv) {
  return hocket::main(argc, argv, [](Module &module) {
    auto pair =
        module.block("pair", {"a", "b"}, [](Scope m, Tensor a, Tensor b) { return std::array{gelu(a), silu(b)}; });
    auto grouped = module.block("grouped", [&](Scope m, Tensor x, Tensor pos, Tensor doc) {
      Scope attn = m.sub("attn");
      Tensor q = linear(x, attn.param("q", {64, 2, 4, 8}, normal(0.02)));
      Tensor k = linear(x, attn.param("k", {64, 2, 8}, constant(0.1))),
             v = linear(x, attn.param("v", {64, 2, 8}, zeros));
      Tensor y = attention(rope(q, pos, {.theta = 5e5, .dims = 4, .interleaved = true, .position_scale = 0.5}), k, v,
                           at(pos, pos).within(doc), {.mask = Mask::full, .scale = 0.25, .window = 8, .softcap = 30.0});
      auto [left, right] = attn.call("twice", pair, x, x);
      Tensor o = linear(y, attn.param("o", {2, 4, 8, 64}, ones));
      return left + right * o;
    });
    Model everything = module.model("everything", sequence(16), [&](Scope m, Tensor tokens, Tensor next, Tensor doc) {
      Tensor table = m.param("table", {256, 64}, normal(0.02)), pos = positions(tokens);
      Tensor x = embedding(tokens, table);
      x = m.repeat("layers", 2, grouped, x, pos, doc);
      x = swish(x);
      x = twice(x);
      x = elementwise("all", allScalars, x, m.param("y", {64}, zeros));
      Tensor heads = linear(x, m.param("split", {64, 4, 16}, normal(0.02)), m.param("split_bias", {4, 16}, zeros));
      heads = linear(heads, m.param("each", {16, 16}, normal(0.02)), contract(1));
      std::vector<Tensor> parts = unstack(heads, dim(2), 4);
      Tensor s = stack(dim(2), parts[0], parts[1]);
      Tensor both = concat(dim(2), parts[2], pad(part(parts[3], dim(2), 4, 8), dim(2), 4, 16));
      x = x + dropout(sum_over(spread(linear(both, m.param("joined", {32, 64}, ones)), dim(2), 3), dim(2)), pos, 0.1);
      Tensor w = sum(stack(dim(0), m.param("w0", {2, 16, 64}, ones), m.param("w1", {2, 16, 64}, ones)), 1);
      x = matmul(s, w, "b s n d, n d h -> b s h");
      Route route = router(router_logits(x, m.param("gate", {64, 4}, normal(0.02))), pos,
                           {.top = 2, .capacity = 1.25, .scores = Scores::sigmoid, .normalized = true, .scale = 2.5});
      x = combine(matmul(dispatch(x, route), m.param("up", {4, 64, 64}, ones), "e b c h, e h f -> e b c f"), route);
      x = mul(rms_norm(x, m.param("norm.weight", {x.dim(-1)}, ones), 1e-6), x);
      x = add(layer_norm(x, m.param("ln.weight", {64}, ones), m.param("ln.bias", {64}, zeros), 1e-3), x);
      return cross_entropy(linear(x, transposed(table)), next);
    });
    module.recipe("all", everything)
        .seed(7)
        .batch(8)
        .precision({.params = bf16, .compute = bf16, .accumulate = f32, .reduce = f32, .master = f32})
        .optimizer(AdamW{})
        .learning_rate(Constant{.peak = 1e-3, .warmup = 2})
        .clip(0.5)
        .capacity(1.25)
        .auxiliary_loss(0.01)
        .group("**.norm.weight", {.weight_decay = 0.5})
        .group("table", {.lr_scale = 0.1})
        .group("layers.*.attn.q", {.frozen = true});
    Precision half{.params = f16, .compute = f16, .accumulate = f32, .master = f32};
    for (auto [name, isDynamic] : {std::pair("dynamic", true), std::pair("static", false)}) {
      Recipe recipe = module.recipe(name, everything);
      recipe.batch(8).capacity(1.25).precision(half).optimizer(AdamW{}).learning_rate(Constant{.peak = 1e-3});
      if (isDynamic)
        recipe.loss_scale(DynamicScale{.initial = 1024, .interval = 100});
      else
        recipe.loss_scale(StaticScale{128});
    }
    Mesh mesh = module.mesh("mesh", {{"pp", 2}, {"dp", 2}, {"cp", 2}, {"tp", 4}});
    module.plan("everywhere", everything, mesh)
        .batch(over("dp", "cp"), microbatch(1))
        .experts(over("cp"))
        .split("layers.*.attn.q", dim(1), over(subaxis("tp", 1, 2)))
        .split("layers.*.attn.q", dim(2), over(subaxis("tp", 2, 2)))
        .sequence(over("tp"))
        .stages(over("pp"), schedule("gpipe"))
        .zero(1, over("dp", "cp"));
    module.plan("nowhere", everything, mesh)
        .batch(over(), microbatch(2))
        .split(megatron, over("tp"), uneven)
        .sequence(over("tp"), keep_gathered)
        .context(over("cp"), Context::all_gather)
        .stages(over("pp"), cuts({2, 1}), scheduleFile("table.txt"));
    module.plan("found", everything, mesh).batch(over("dp"), microbatch(2)).split(automatic, over("tp"));
    module.plan("kept", everything, mesh)
        .recompute(Recompute::full, "h.0")
        .recompute(Recompute::selective)
        .recompute(Recompute::automatic)
        .offload(Offload::activations, "h.*")
        .offload(Offload::optimizer_state)
        .offload(Offload::parameters, "table")
        .overlap(Overlap::gradients)
        .overlap(Overlap::parameters)
        .overlap(Overlap::activations);
    module.plan("balanced", everything, mesh).stages(over("pp"), balanced(), schedule("zb-v", 2));
  });
}
