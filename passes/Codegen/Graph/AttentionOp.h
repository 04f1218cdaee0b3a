// What an attention op, or its gradient, asks of the kernels of either target.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::codegen {

/// Batch, queries, keys, key heads, query heads of each, elements of q and k, and of v and y.
/// q [b, s, kv, g, d] or [b, s, kv, d], where g is 1; k [b, t, kv, d]; v [b, t, kv, e].
struct AttentionSizes {
  int64_t b, s, t, kv, g, d, e;

  AttentionSizes(mlir::Value q, mlir::Value k, mlir::Value v);
  int64_t heads() const { return kv * g; }
};

/// Scores and mask, as the op says.
struct AttentionMask {
  bool causal, documents;
  int64_t window;        ///< 0: none
  double scale, softcap; ///< softcap 0: none

  template <typename OpT>
  explicit AttentionMask(OpT op)
      : causal(op.getMask() == nn::MaskKind::Causal), documents(!op.getDocuments().empty()),
        window(static_cast<int64_t>(op.getWindow().value_or(0))), scale(op.getScale().convertToDouble()),
        softcap(op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0) {}
  bool always() const { return !ordered() && !documents; } ///< every query sees every key
  bool ordered() const { return causal || window != 0; }   ///< reads positions
};
} // namespace hocket::codegen
