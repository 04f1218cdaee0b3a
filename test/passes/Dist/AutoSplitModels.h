// Models of any size as text, for the search of splits: nothing of them is ever computed.
#pragma once
#include <cstdint>
#include <string>

namespace hocket::testing {

struct ModelSizes {
  int64_t layers = 2, hidden = 256, heads = 8, kvHeads = 8, headSize = 32, feedForward = 1024, vocabulary = 1024,
          sequence = 64;
};
/// How parameters are called and lie: none of it may matter.
struct ModelStyle {
  bool plainNames = true;  ///< wte, h.0.attn.qkv.weight …; else a, x.b …
  bool numbered = true;    ///< layers by `repeat`; else each called by a name without a number
  bool transposed = false; ///< feed-forward weights as [out, in]
};

/// Learned positions, layer norms, tied head.
std::string gptText(const ModelSizes &sizes, const ModelStyle &style = {});
/// Rotary positions, grouped KV heads, gated feed-forward, a head of its own.
std::string llamaText(const ModelSizes &sizes);
/// Embedding, residual feed-forward blocks, a head of its own: no attention.
std::string mlpText(const ModelSizes &sizes);
} // namespace hocket::testing
