// A small byte-level GPT with an activation of its own, relu(x)^2 (So et al. 2021, "Primer"), written against an
// installed Hocket. Its derivative and its kernels follow from the expression.
#include <hocket/hocket.h>
using namespace hocket;

struct Gpt {
  int64_t layers, hidden, heads, length;
  int64_t head() const { return hidden / heads; }

  Tensor norm(Scope m, Tensor x) const { return rms_norm(x, m.param("weight", {hidden}, ones)); }

  Tensor relu2(Tensor x) const {
    auto square = [](Scalar x) {
      Scalar positive = max(x, 0.0);
      return positive * positive;
    };
    return elementwise("relu2", square, x);
  }

  Tensor layer(Scope m, Tensor x, Tensor pos) const {
    Tensor qkv = linear(norm(m.sub("ln_1"), x), m.param("attn.qkv.weight", {hidden, 3, heads, head()}, normal(0.02)));
    auto [q, k, v] = unstack<3>(qkv, dim(2));
    Tensor a = attention(rope(q, pos), rope(k, pos), v, at(pos));
    Tensor r = x + linear(a, m.param("attn.proj.weight", {heads, head(), hidden}, normal(0.01)));
    Tensor f = linear(norm(m.sub("ln_2"), r), m.param("mlp.fc.weight", {hidden, 4 * hidden}, normal(0.02)));
    return r + linear(relu2(f), m.param("mlp.proj.weight", {4 * hidden, hidden}, normal(0.01)));
  }
};

int main(int argc, char **argv) {
  return hocket::main(argc, argv, [](Module &module, Arguments &args) {
    Gpt gpt{
        .layers = args.get("layers", 2, "layers"), .hidden = args.get("hidden", 64, "width"), .heads = 4, .length = 32};
    auto layer = module.block("layer", [&](Scope m, Tensor x, Tensor pos) { return gpt.layer(m, x, pos); });
    Model model = module.model("relu2", sequence(gpt.length), [&](Scope m, Tensor tokens, Tensor next) {
      Tensor wte = m.param("wte", {256, gpt.hidden}, normal(0.02));
      Tensor y = m.repeat("h", gpt.layers, layer, embedding(tokens, wte), positions(tokens));
      return cross_entropy(linear(gpt.norm(m.sub("ln_f"), y), transposed(wte)), next);
    });
    module.recipe("pretrain", model)
        .batch(8)
        .optimizer(AdamW{.weight_decay = 0.1})
        .learning_rate(Cosine{.peak = 3e-3, .warmup = 5, .decay = 200})
        .clip(1.0);
    Mesh mesh = module.mesh("four", {{"dp", 2}, {"tp", 2}});
    module.plan("grid", model, mesh).batch(over("dp"), microbatch(2)).split(megatron, over("tp")).zero(1, over("dp"));
  });
}
