// Writes a draw's model and recipe as a file has them.
#include "test/property/Draw.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::property {
namespace {
struct Value {
  std::string name, type;
};
using Shape = std::vector<int64_t>;

std::string tensor(const Shape &shape, bool batched, const char *element = "f32") {
  return fmt::format("tensor<{}{}{}{}>", batched ? "?x" : "", fmt::join(shape, "x"), shape.empty() ? "" : "x", element);
}

/// One function's text; values are numbered.
class Body {
public:
  explicit Body(const Draw &draw) : draw(draw) {}
  std::string text;

  /// Weights keep activations near one, so that float32 loses no more than it must.
  Value param(const std::string &name, const Shape &shape, double scale) {
    return add(fmt::format("param \"{}\" : {} init normal({:.3f})", name, tensor(shape, false), scale),
               tensor(shape, false));
  }
  Value weight(const std::string &name, const Shape &shape, int64_t contracted) {
    return param(name, shape, std::min(0.4, 1 / std::sqrt(static_cast<double>(contracted))));
  }
  /// An op with all operand types and the result's.
  Value op(const std::string &words, const std::vector<Value> &operands, const Shape &shape,
           const std::string &after = "") {
    std::vector<std::string> names, types;
    for (const Value &operand : operands) {
      names.push_back(operand.name);
      types.push_back(operand.type);
    }
    std::string type = tensor(shape, true);
    return add(fmt::format("{} {}{} : {} -> {}", words, fmt::join(names, ", "), after, fmt::join(types, ", "), type),
               type);
  }
  Value add(const std::string &words, const std::string &type) {
    std::string name = fmt::format("%v{}", next++);
    text += fmt::format("  {} = {}\n", name, words);
    return {name, type};
  }
  std::vector<Value> unstack(const Value &x, int64_t count, const Shape &shape) {
    return unstack(x, 2, count, tensor(shape, true));
  }
  std::vector<Value> unstack(const Value &x, int64_t dim, int64_t count, const std::string &type) {
    std::vector<std::string> names, types(count, type);
    std::vector<Value> values;
    for (int64_t i = 0; i < count; ++i) {
      names.push_back(fmt::format("%v{}", next++));
      values.push_back({names.back(), types[i]});
    }
    text += fmt::format("  {} = unstack {} dim {} : {} -> {}\n", fmt::join(names, ", "), x.name, dim, x.type,
                        fmt::join(types, ", "));
    return values;
  }
  Value norm(const std::string &name, const Value &x) {
    Shape shape{draw.sequence, draw.hidden};
    Value gain = param(name + ".weight", {draw.hidden}, 0.7);
    if (draw.norm == RmsNorm)
      return op("rms_norm", {x, gain}, shape);
    return op("layer_norm", {x, gain, param(name + ".bias", {draw.hidden}, 0.2)}, shape);
  }
  Value biased(const std::string &name, const Value &x, const Shape &shape, const Shape &bias) {
    return draw.bias ? op("add", {x, param(name + ".bias", bias, 0.2)}, shape) : x;
  }
  Value rotated(const Value &x, const Value &pos, Shape shape) {
    if (draw.places != Rotary)
      return x;
    std::string words = "rope", options;
    if (draw.rotaryPart && draw.headSize > 2)
      options += " dims(2)";
    if (draw.interleaved)
      options += " interleaved";
    return add(fmt::format("rope {} at {}{} : {}, {} -> {}", x.name, pos.name, options, x.type, pos.type, x.type),
               x.type);
  }
  Value attention(Value q, Value k, Value v, const Value &pos, const Value &doc, const Shape &shape) {
    std::string at = fmt::format(" at {0}, {0}", pos.name);
    std::vector<std::string> types{q.type, k.type, v.type, pos.type, pos.type};
    if (draw.documents) {
      at += fmt::format(" documents {0}, {0}", doc.name);
      types.insert(types.end(), {doc.type, doc.type});
    }
    at += " causal scale(0.6)";
    if (draw.window)
      at += fmt::format(" window({})", draw.window);
    if (draw.softcap)
      at += " softcap(3)";
    std::string type = tensor(shape, true);
    return add(
        fmt::format("attention {}, {}, {}{} : {} -> {}", q.name, k.name, v.name, at, fmt::join(types, ", "), type),
        type);
  }
  Value dropped(const Value &x, const Value &pos) {
    if (!draw.dropout)
      return x;
    return add(fmt::format("dropout {} at {} rate(0.{}) : {}, {} -> {}", x.name, pos.name, draw.dropout / 10, x.type,
                           pos.type, x.type),
               x.type);
  }
  Value activated(const Value &x) {
    if (draw.activation < 2)
      return add(fmt::format("{} {} : {} -> {}", draw.activation ? "silu" : "gelu", x.name, x.type, x.type), x.type);
    Value y = add(fmt::format("elementwise \"act\" {} : {} -> {} {{\n  ^bb0(%a: f32):\n    %t = math.tanh %a : f32\n"
                              "    %m = arith.mulf %a, %t : f32\n    return %m : f32\n  }}",
                              x.name, x.type, x.type),
                  x.type);
    return y;
  }

private:
  const Draw &draw;
  int next = 0;
};

/// Queries, keys and values by way of fewer numbers a token; the rotary part of a key, two numbers, is one for all
/// heads.
Value latentPart(Body &body, const Draw &draw, const Value &n, const Value &pos, const Value &doc) {
  int64_t s = draw.sequence, h = draw.hidden, heads = draw.kvHeads, d = draw.headSize, low = draw.valueSize + 1;
  auto joined = [&](const Value &a, const Value &b, const std::string &type) {
    return body.add(fmt::format("concat {}, {} dim 3 : {}, {} -> {}", a.name, b.name, a.type, b.type, type), type);
  };
  auto turned = [&](const Value &x) {
    return body.add(fmt::format("rope {} at {} interleaved : {}, {} -> {}", x.name, pos.name, x.type, pos.type, x.type),
                    x.type);
  };
  auto lowered = [&](const std::string &name) {
    Value x = body.op("linear", {n, body.weight(name + ".weight", {h, low}, h)}, {s, low});
    return body.op("rms_norm", {x, body.param(name + "_norm.weight", {low}, 0.7)}, {s, low});
  };
  std::string type = tensor({s, heads, d + 2}, true), shared = tensor({s, heads, 2}, true);
  Value qa = lowered("attn.q_a"), kva = lowered("attn.kv_a");
  Value q0 = body.op("linear", {qa, body.weight("attn.q.weight", {low, heads, d}, low)}, {s, heads, d});
  Value q = joined(
      q0, turned(body.op("linear", {qa, body.weight("attn.q_rope.weight", {low, heads, 2}, low)}, {s, heads, 2})),
      type);
  Value kv = body.op("linear", {kva, body.weight("attn.kv.weight", {low, 2, heads, d}, low)}, {s, 2, heads, d});
  auto parts = body.unstack(kv, 2, {s, heads, d});
  Value turn = turned(body.op("linear", {n, body.weight("attn.k_rope.weight", {h, 2}, h)}, {s, 2}));
  Value k =
      joined(parts[0], body.add(fmt::format("spread {} dim 2 : {} -> {}", turn.name, turn.type, shared), shared), type);
  Value a = body.attention(q, k, parts[1], pos, doc, {s, heads, d});
  Value p = body.op("linear", {a, body.weight("attn.proj.weight", {heads, d, h}, heads * d)}, {s, h});
  return body.biased("attn.proj", p, {s, h}, {h});
}

Value attentionPart(Body &body, const Draw &draw, const Value &n, const Value &pos, const Value &doc) {
  int64_t s = draw.sequence, h = draw.hidden, kv = draw.kvHeads, g = draw.group, d = draw.headSize;
  int64_t e = draw.heads == Separate ? draw.valueSize : d;
  Shape heads{s, kv, d}, queries = draw.heads == Grouped ? Shape{s, kv, g, d} : heads;
  Value q, k, v;
  if (draw.heads == Fused) {
    Shape fused{s, 3, kv, d};
    Value qkv = body.op("linear", {n, body.weight("attn.qkv.weight", {h, 3, kv, d}, h)}, fused);
    auto parts = body.unstack(body.biased("attn.qkv", qkv, fused, {3, kv, d}), 3, heads);
    q = parts[0], k = parts[1], v = parts[2];
  } else if (draw.heads == Grouped) {
    Shape pair{s, 2, kv, d};
    q = body.op("linear", {n, body.weight("attn.q.weight", {h, kv, g, d}, h)}, queries);
    q = body.biased("attn.q", q, queries, {kv, g, d});
    Value both = body.op("linear", {n, body.weight("attn.kv.weight", {h, 2, kv, d}, h)}, pair);
    auto parts = body.unstack(body.biased("attn.kv", both, pair, {2, kv, d}), 2, heads);
    k = parts[0], v = parts[1];
  } else if (draw.heads == Latent) {
    return latentPart(body, draw, n, pos, doc);
  } else {
    q = body.op("linear", {n, body.weight("attn.q.weight", {h, kv, d}, h)}, heads);
    k = body.op("linear", {n, body.weight("attn.k.weight", {h, kv, d}, h)}, heads);
    v = body.op("linear", {n, body.weight("attn.v.weight", {h, kv, e}, h)}, {s, kv, e});
    v = body.biased("attn.v", v, {s, kv, e}, {kv, e});
  }
  q = body.rotated(q, pos, queries);
  k = body.rotated(k, pos, heads);
  Shape made = queries;
  made.back() = e;
  Value a = body.attention(q, k, v, pos, doc, made);
  Shape weight(made.begin() + 1, made.end());
  weight.push_back(h);
  Value p = body.op("linear", {a, body.weight("attn.proj.weight", weight, draw.queryHeads() * e)}, {s, h});
  return body.biased("attn.proj", p, {s, h}, {h});
}

Value innerPart(Body &body, const Draw &draw, const Value &n) {
  int64_t s = draw.sequence, h = draw.hidden, f = draw.ffn;
  Value y;
  if (draw.inner == Gated) {
    Value both = body.op("linear", {n, body.weight("mlp.fc.weight", {h, 2, f}, h)}, {s, 2, f});
    auto parts = body.unstack(body.biased("mlp.fc", both, {s, 2, f}, {2, f}), 2, {s, f});
    y = body.op("mul", {body.activated(parts[0]), parts[1]}, {s, f});
  } else {
    Value x = body.op("linear", {n, body.weight("mlp.fc.weight", {h, f}, h)}, {s, f});
    y = body.activated(body.biased("mlp.fc", x, {s, f}, {f}));
  }
  Value o = body.op("linear", {y, body.weight("mlp.proj.weight", {f, h}, f)}, {s, h});
  return body.biased("mlp.proj", o, {s, h}, {h});
}

/// Experts, each a feed-forward of its own.
Value expertPart(Body &body, const Draw &draw, const Value &n, const Value &pos) {
  int64_t s = draw.sequence, h = draw.hidden, f = draw.ffn, e = draw.experts, k = draw.top, c = draw.expertPlaces();
  Value logits = body.op("router_logits", {n, body.param("router.weight", {h, e}, 0.7)}, {s, e});
  std::string weights = tensor({s, k}, true), slots = tensor({s, k}, true, "i32"), tokens = tensor({e, c}, true, "i32");
  body.text += fmt::format("  %rw, %rs, %rt, %rl = router {} at {} top {}{}{} : {}, {} -> {}, {}, {}, tensor<?xf32>\n",
                           logits.name, pos.name, k, draw.sigmoid ? " sigmoid" : "",
                           draw.normalized ? " normalized" : "", logits.type, pos.type, weights, slots, tokens);
  auto batched = [&](const std::string &rest) { return fmt::format("tensor<{}x?x{}x{}xf32>", e, c, rest); };
  auto product = [&](const Value &x, const Value &w, const char *rule, const std::string &type) {
    return body.add(fmt::format("matmul {}, {} \"{}\" : {}, {} -> {}", x.name, w.name, rule, x.type, w.type, type),
                    type);
  };
  std::string inner = batched(std::to_string(f)), outer = batched(std::to_string(h));
  Value x =
      body.add(fmt::format("dispatch {} by %rs, %rt : {}, {}, {} -> {}", n.name, n.type, slots, tokens, outer), outer);
  Value y;
  if (draw.inner == Gated) {
    Value both = product(x, body.weight("experts.fc.weight", {e, h, 2, f}, h), "e b c h, e h u f -> e b c u f",
                         batched(fmt::format("2x{}", f)));
    auto parts = body.unstack(both, 3, 2, inner);
    Value g = body.activated(parts[0]);
    y = body.add(fmt::format("mul {}, {} : {}, {} -> {}", g.name, parts[1].name, inner, inner, inner), inner);
  } else {
    y = body.activated(product(x, body.weight("experts.fc.weight", {e, h, f}, h), "e b c h, e h f -> e b c f", inner));
  }
  Value o = product(y, body.weight("experts.proj.weight", {e, f, h}, f), "e b c f, e f h -> e b c h", outer);
  return body.add(fmt::format("combine {} by %rs, %rt weighted %rw : {}, {}, {}, {} -> {}", o.name, o.type, slots,
                              tokens, weights, n.type),
                  n.type);
}

std::string blockText(const Draw &draw, const char *name, bool experts) {
  Body body(draw);
  Shape shape{draw.sequence, draw.hidden};
  Value x{"%x", tensor(shape, true)}, pos{"%pos", tensor({draw.sequence}, true, "i32")}, doc{"%doc", pos.type};
  Value a = attentionPart(body, draw, body.norm("ln_1", x), pos, doc);
  Value r = body.op("add", {x, body.dropped(a, pos)}, shape);
  Value n = body.norm("ln_2", r), inner;
  if (experts)
    inner = expertPart(body, draw, n, pos);
  if (!experts || draw.shared) {
    Value dense = body.dropped(innerPart(body, draw, n), pos);
    inner = experts ? body.op("add", {inner, dense}, shape) : dense;
  }
  Value y = body.op("add", {r, inner}, shape);
  return fmt::format("nn.block @{}(%x: {}, %pos: {}{}) -> {} {{\n{}  return {} : {}\n}}\n", name, x.type, pos.type,
                     draw.documents ? ", %doc: " + doc.type : "", x.type, body.text, y.name, y.type);
}

std::string recipeText(const Draw &draw) {
  static const char *const precisions[] = {
      "params f32 compute f32 accumulate f32", "params bf16 compute bf16 accumulate f32 reduce f32 master f32",
      "params f32 compute bf16 accumulate f32 reduce bf16",
      "params f16 compute f16 accumulate f32 reduce f32 master f32\n  loss_scale dynamic(initial = 1024)"};
  static const char *const groups[] = {"", "  group \"h.0.**\" frozen\n", "  group \"wte\" frozen\n",
                                       "  group \"h.*.attn.**\" lr_scale 0.5 weight_decay 0.3\n",
                                       "  group \"h.0.ln_2.weight\" frozen\n  group \"**.weight\" weight_decay 0.0\n"};
  std::string mixture = draw.experts ? fmt::format("  capacity {}.{}\n{}", draw.capacity / 10, draw.capacity % 10,
                                                   draw.auxiliary ? "  auxiliary_loss 0.3\n" : "")
                                     : "";
  return fmt::format(
      "nn.recipe @recipe for @model {{\n  batch {0} sequences\n  precision {1}\n"
      "  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)\n"
      "  learning_rate cosine(peak = {5}, warmup = 2, decay = 10, floor = 1.0e-4)\n{2}{6}  seed {3}\n{4}}}\n",
      draw.batch() - (static_cast<Wrong>(draw.wrong) == Wrong::BatchNoMultiple ? 1 : 0), precisions[draw.precision],
      draw.clip ? "  clip 1.0\n" : "", draw.seed % 1000, groups[draw.groupKind], draw.hidden > 20 ? "1.0e-3" : "1.0e-2",
      mixture);
}
} // namespace

std::string modelText(const Draw &draw) {
  Body body(draw);
  int64_t s = draw.sequence, h = draw.hidden, v = draw.vocabulary;
  std::string ids = tensor({s}, true, "i32");
  Value tokens{"%tokens", ids}, next{"%next", ids}, doc{"%documents", ids};
  Value wte = body.param("wte", {v, h}, 0.5);
  Value pos = body.add("positions : " + ids, ids);
  Value x = body.op("embedding", {tokens, wte}, {s, h});
  if (draw.places == Learned)
    x = body.op("add", {x, body.op("embedding", {pos, body.param("wpe", {s, h}, 0.5)}, {s, h})}, {s, h});
  x = body.dropped(x, pos);
  std::vector<Value> carried{x, pos};
  if (draw.documents)
    carried.push_back(doc);
  std::vector<std::string> names, types;
  for (const Value &value : carried) {
    names.push_back(value.name);
    types.push_back(value.type);
  }
  Value y;
  bool mixed = draw.mixed && draw.experts && draw.layers > 1;
  if (!mixed)
    y = body.add(fmt::format("repeat @layer({}) {} as \"h\" : {} -> {}", fmt::join(names, ", "), draw.layers,
                             fmt::join(types, ", "), x.type),
                 x.type);
  for (int64_t layer = 0; mixed && layer < draw.layers; ++layer) {
    y = body.add(fmt::format("call @{}({}) as \"h.{}\" : {} -> {}", layer % 2 ? "dense" : "layer",
                             fmt::join(names, ", "), layer, fmt::join(types, ", "), x.type),
                 x.type);
    names[0] = y.name;
  }
  if (draw.skip)
    y = body.op("add", {y, x}, {s, h});
  Value n = body.norm("ln_f", y);
  Value logits = draw.tied ? body.op("linear transposed", {n, wte}, {s, v})
                           : body.op("linear", {n, body.weight("head", {h, v}, h)}, {s, v});
  return blockText(draw, "layer", draw.experts > 0) + (mixed ? blockText(draw, "dense", false) : "") +
         fmt::format("nn.model @model(%tokens: {0}, %next: {0}{1}) -> (tensor<f32>, tensor<i64>) {{\n{2}"
                     "  %sum, %count = cross_entropy {3}, %next : {4}, {0} -> tensor<f32>, tensor<i64>\n"
                     "  return %sum, %count : tensor<f32>, tensor<i64>\n}}\n",
                     ids, draw.documents ? ", %documents: " + ids : "", body.text, logits.name, logits.type) +
         recipeText(draw);
}

std::string fileOf(const Draw &draw) {
  return modelText(draw) + planText(draw) +
         "dist.mesh @one<\"dp\"=1>\ndist.plan @single for @model on @one {\n  batch over \"dp\" microbatch " +
         std::to_string(draw.batch() - (static_cast<Wrong>(draw.wrong) == Wrong::BatchNoMultiple ? 1 : 0)) +
         " sequences\n}\n";
}
} // namespace hocket::property
