// The form of Llama in any depth and width, which are arguments of this program; without arguments it is model.mlir.
//   llama-model --layers 8 --hidden 512 --heads 16 --kv-heads 4 --ffn 1376 -o llama.mlir
#include <algorithm>
#include <cmath>
#include <hocket/hocket.h>
using namespace hocket;

struct Sizes {
  int64_t layers, hidden, heads, kv, ffn, vocabulary, length;
  int64_t group() const { return heads / kv; }
  int64_t head() const { return hidden / heads; }
};

Tensor layer(const Sizes &size, Scope m, Tensor x, Tensor pos) {
  int64_t hidden = size.hidden, kv = size.kv, group = size.group(), head = size.head();
  Init weights = normal(0.02),
       residual = normal(std::round(0.02 / std::sqrt(2.0 * std::max<int64_t>(size.layers, 1)) * 1e6) / 1e6);
  // attention
  Tensor n1_g = m.param("attn_norm.weight", {hidden}, ones);
  Tensor q_w = m.param("attn.q.weight", {hidden, kv, group, head}, weights);
  Tensor kv_w = m.param("attn.kv.weight", {hidden, 2, kv, head}, weights);
  Tensor o_w = m.param("attn.o.weight", {kv, group, head, hidden}, residual);
  Tensor n1 = rms_norm(x, n1_g);
  Tensor q0 = linear(n1, q_w);
  auto [k0, v] = unstack<2>(linear(n1, kv_w), dim(2));
  Tensor q = rope(q0, pos), k = rope(k0, pos);
  Tensor r = x + linear(attention(q, k, v, at(pos)), o_w);
  // feed-forward: silu(gate) * up
  Tensor n2_g = m.param("mlp_norm.weight", {hidden}, ones);
  Tensor up_w = m.param("mlp.gate_up.weight", {hidden, 2, size.ffn}, weights);
  Tensor down_w = m.param("mlp.down.weight", {size.ffn, hidden}, residual);
  auto [gate, up] = unstack<2>(linear(rms_norm(r, n2_g), up_w), dim(2));
  return r + linear(silu(gate) * up, down_w);
}

Sizes sizesOf(Module &module, Arguments &args) {
  Sizes size;
  size.layers = args.get("layers", 4, "transformer layers");
  size.hidden = args.get("hidden", 256, "width of the residual stream");
  size.heads = args.get("heads", 8, "query heads");
  size.kv = args.get("kv-heads", 2, "heads of keys and values");
  size.ffn = args.get("ffn", 688, "width of the feed-forward layer");
  size.vocabulary = args.get("vocabulary", 256, "tokens that there are");
  size.length = args.get("length", 128, "tokens of a sequence");
  if (size.kv < 1 || size.heads < 1 || size.heads % size.kv != 0)
    module.fault("--heads is " + std::to_string(size.heads) + ", expected a multiple of --kv-heads, " +
                 std::to_string(size.kv));
  if (size.heads < 1 || size.hidden % (2 * size.heads) != 0)
    module.fault("--hidden is " + std::to_string(size.hidden) + ", expected an even multiple of --heads, " +
                 std::to_string(size.heads));
  if (size.heads < 1 || size.kv < 1) // to go on looking for faults
    size.heads = size.kv = 1;
  return size;
}

int main(int argc, char **argv) {
  return hocket::main(argc, argv, [](Module &module, Arguments &args) {
    Sizes size = sizesOf(module, args);
    auto block =
        module.block("layer", {"x", "pos"}, [&](Scope m, Tensor x, Tensor pos) { return layer(size, m, x, pos); });
    Model llama = module.model("llama", sequence(size.length), [&](Scope m, Tensor tokens, Tensor next) {
      Tensor embed = m.param("embed", {size.vocabulary, size.hidden}, normal(0.02));
      Tensor pos = positions(tokens);
      Tensor y = m.repeat("layers", size.layers, block, embedding(tokens, embed), pos);
      Tensor g = m.param("norm.weight", {size.hidden}, ones);
      Tensor n = rms_norm(y, g);
      Tensor head = m.param("head.weight", {size.hidden, size.vocabulary}, normal(0.02));
      return cross_entropy(linear(n, head), next);
    });

    module.recipe("pretrain", llama)
        .batch(8)
        .precision({.params = f32, .compute = f32, .accumulate = f32})
        .optimizer(AdamW{.betas = {0.9, 0.95}, .weight_decay = 0.1})
        .learning_rate(Cosine{.peak = 1e-3, .warmup = 20, .decay = 1000, .floor = 1e-4})
        .clip(1.0)
        .seed(1234);

    Mesh one = module.mesh("one", {{"dp", 1}});
    module.plan("single", llama, one).batch(over("dp"), microbatch(2));

    // Four tensor-parallel ranks on two KV heads: each KV head lives on two ranks, which share its query heads.
    Mesh cluster = module.mesh("cluster", {{"dp", 2}, {"tp", 4}});
    module.plan("dt", llama, cluster).batch(over("dp"), microbatch(2)).split(megatron, over("tp")).zero(1, over("dp"));
  });
}
