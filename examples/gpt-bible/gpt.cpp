// A byte-level GPT of 4.8 million parameters, its recipe, and plans: model.mlir, written in C++.
#include <hocket/hocket.h>
using namespace hocket;

constexpr int64_t layers = 6, length = 128, hidden = 256, heads = 8, head = hidden / heads, ffn = 4 * hidden,
                  bytes = 256;
constexpr Init weights = normal(0.02), residual = normal(0.005774); // 0.02 / sqrt(2 layers)

Tensor layer(Scope m, Tensor x, Tensor pos) {
  // attention
  Tensor ln1_g = m.param("ln_1.weight", {hidden}, ones), ln1_b = m.param("ln_1.bias", {hidden}, zeros);
  Tensor qkv_w = m.param("attn.qkv.weight", {hidden, 3, heads, head}, weights);
  Tensor qkv_b = m.param("attn.qkv.bias", {3, heads, head}, zeros);
  Tensor proj_w = m.param("attn.proj.weight", {heads, head, hidden}, residual);
  Tensor proj_b = m.param("attn.proj.bias", {hidden}, zeros);
  auto [q, k, v] = unstack<3>(linear(layer_norm(x, ln1_g, ln1_b), qkv_w, qkv_b), dim(2));
  Tensor r = x + linear(attention(q, k, v, at(pos)), proj_w, proj_b);
  // feed-forward
  Tensor ln2_g = m.param("ln_2.weight", {hidden}, ones), ln2_b = m.param("ln_2.bias", {hidden}, zeros);
  Tensor fc_w = m.param("mlp.fc.weight", {hidden, ffn}, weights), fc_b = m.param("mlp.fc.bias", {ffn}, zeros);
  Tensor out_w = m.param("mlp.proj.weight", {ffn, hidden}, residual), out_b = m.param("mlp.proj.bias", {hidden}, zeros);
  Tensor f = gelu(linear(layer_norm(r, ln2_g, ln2_b), fc_w, fc_b));
  return r + linear(f, out_w, out_b);
}

int main(int argc, char **argv) {
  return hocket::main(argc, argv, [](Module &module) {
    auto block = module.block("layer", {"x", "pos"}, layer);
    Model gpt = module.model("gpt", sequence(length), [&](Scope m, Tensor tokens, Tensor next) {
      Tensor wte = m.param("wte", {bytes, hidden}, weights), wpe = m.param("wpe", {length, hidden}, weights);
      Tensor pos = positions(tokens);
      Tensor te = embedding(tokens, wte), pe = embedding(pos, wpe);
      Tensor y = m.repeat("h", layers, block, te + pe, pos);
      Tensor g = m.param("ln_f.weight", {hidden}, ones), b = m.param("ln_f.bias", {hidden}, zeros);
      Tensor logits = linear(layer_norm(y, g, b), transposed(wte)); // tied to the embedding
      return cross_entropy(logits, next);
    });

    module.recipe("pretrain", gpt)
        .batch(32)
        .precision({.params = f32, .compute = f32, .accumulate = f32})
        .optimizer(AdamW{.betas = {0.9, 0.95}, .eps = 1e-5, .weight_decay = 0.1})
        .learning_rate(Cosine{.peak = 1e-3, .warmup = 20, .decay = 1000, .floor = 1e-4})
        .clip(1.0)
        .seed(1234);

    Mesh one = module.mesh("one", {{"dp", 1}});
    module.plan("single", gpt, one).batch(over("dp"), microbatch(2));

    // Eight ranks: two pipeline stages, two data-parallel replicas, two tensor-parallel shards.
    Mesh cluster = module.mesh("cluster", {{"pp", 2}, {"dp", 2}, {"tp", 2}});
    module.plan("ptd", gpt, cluster)
        .batch(over("dp"), microbatch(2))
        .split("h.*.attn.qkv.weight", dim(2), over("tp"))  // column parallel: by head
        .split("h.*.attn.proj.weight", dim(0), over("tp")) // row parallel
        .split("h.*.mlp.fc.weight", dim(1), over("tp"))    // column parallel
        .split("h.*.mlp.proj.weight", dim(0), over("tp"))  // row parallel
        .split("wte", dim(0), over("tp"))                  // vocabulary parallel: embedding, head and loss
        .stages(over("pp"), schedule("1f1b"))
        .zero(1, over("dp"));
  });
}
