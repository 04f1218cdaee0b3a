// A program whose mistakes are told, all in one run, each at its line. See faults.test.
#include <hocket/hocket.h>
using namespace hocket;

int main(int argc, char **argv) {
  return hocket::main(argc, argv, [](Module &module) {
    auto never = module.block("never", [](Scope m, Tensor x) { return x; });
    auto layer = module.block("layer", {"x"}, [](Scope m, Tensor x) {
      Tensor w = m.param("w", {64, 32}, normal(0.02));
      Tensor bad = m.param("bad", {64, 0}, zeros);
      return gelu(linear(gelu(x), w)) + linear(x, bad);
    });
    Model gpt = module.model("gpt", sequence(16), [&](Scope m, Tensor tokens, Tensor next) {
      Tensor wte = m.param("wte", {256, 64}, normal(-1));
      Tensor nan = m.param("nan", {64}, constant(NAN)), inf = m.param("inf", {64}, normal(INFINITY));
      Tensor x = embedding(tokens, wte);
      Tensor odd = m.param("odd", {48, 64}, normal(0.02));
      Tensor y = linear(x, odd);
      y.dim(3);
      auto [a, b] = unstack<2>(y, dim(5));
      Tensor c = a + b;
      auto inner = module.block("inner", [&](Scope m, Tensor z) { return z + x; });
      Tensor d = m.call("inner", inner, y);
      Tensor e = m.repeat("h", 0, layer, y);
      linear(wte, wte);
      matmul(x, wte, "b s h, v k -> b s v");
      concat(dim(3), x, y), part(x, dim(4), 0, 1), pad(x, dim(-1), 0, 128);
      spread(x, dim(4), 2), sum_over(x, dim(7));
      return cross_entropy(linear(y, transposed(wte)), next);
    });
    module
        .recipe("pretrain", gpt) // without an optimizer
        .batch(0)
        .learning_rate(Cosine{.warmup = 10, .decay = 5});
    Mesh cluster = module.mesh("cluster", {{"dp", 2}, {"tp", 0}});
    module.plan("dp", gpt, cluster)
        .batch(over("data"), microbatch(0))
        .split("wte", dim(-1), over("tp", "tp"))
        .zero(9, over("dp"));
    module.plan("dp", gpt, module.mesh("one mesh", {{"dp", 1}})).batch(over("dp"), microbatch(1));
  });
}
