// Attention as a kernel of text, forward and backward, with positions and documents: what the tests of every target
// draw their cases from.
#pragma once
#include "KernelTesting.h"

namespace hocket::codegen::testing {
/// q [b, s, kv, g, d], or [b, s, kv, d] if not grouped; k [b, t, kv, d]; v [b, t, kv, e]. `mask` is as the op prints
/// it: "causal scale(0.5)".
struct AttentionCase {
  int64_t b, s, t, kv, g, d, e;
  std::string mask;
  bool grouped = false, documents = false;
  bool narrowGrads = false; ///< dk and dv are rounded to the element type, instead of f32
};
/// Functions @k: (q, k, v, q_positions, k_positions, documents …) -> (y, lse), and
/// (dy, q, k, v, q_positions, k_positions, y, lse, documents …) -> (dq, dk, dv).
struct AttentionTexts {
  std::string forward, backward;
};
AttentionTexts textsOf(const AttentionCase &c, const char *element = "f32");

/// How the positions of a sequence lie: one after another, every third, as two pieces of a sequence that is shared by
/// ranks (the first eighth and the last), or in no order at all.
enum class Order : uint8_t { Rising, Strided, Zigzag, Shuffled };
HostTensor positions(int64_t b, int64_t s, Order order);
/// Documents of 13 tokens, the first in the middle of one: no block of 32 queries or 64 keys holds whole ones.
HostTensor documents(int64_t b, int64_t s);

/// Inputs of the forward function: random, with positions in this order.
std::vector<HostBuffer> attentionInputs(mlir::func::FuncOp forward, const AttentionCase &c, Order order);
/// Inputs of the backward function: random dy, the forward's inputs and results.
std::vector<HostBuffer> attentionGradInputs(mlir::func::FuncOp backward, const std::vector<HostBuffer> &inputs,
                                            const std::vector<HostBuffer> &results);
/// Runs both and compares with reference semantics: reductionTolerance(element), the log-sum-exp to 1e-5. Where a
/// machine cuts work into pieces, the same bits for any number.
void checkAttention(const AttentionCase &c, const char *element, Order order);
} // namespace hocket::codegen::testing
