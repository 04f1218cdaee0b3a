// Derivatives that are ops of their own, and the pieces that cross-entropy is taken apart into.
#ifndef HOCKET_NN_GRADIENT_TD
#define HOCKET_NN_GRADIENT_TD
include "dialect/NN/NNBase.td"
include "dialect/NN/NNCompute.td"

def NN_EmbeddingGradOp : NN_OffsetOp<"embedding_grad", (ins NN_Tensor:$ids, NN_Tensor:$dy, Optional<I64>:$offset), [NN_MayWiden]> {
  let summary = "adds each dy[…, :] to row ids[…] - offset of a table of zeros; rows outside are left out";
  let results = (outs NN_Tensor:$dtable);
  let assemblyFormat = [{$ids `,` $dy (`offset` $offset^)? `:` type($ids) `,` type($dy) `->` type($dtable)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_LayerNormGradOp : NN_ComputeOp<"layer_norm_grad", (ins NN_Tensor:$dy, NN_Tensor:$x, NN_Tensor:$gain, F64Attr:$eps)> {
  let summary = "gradient of x; mean and deviation are found again from x";
  let results = (outs NN_Tensor:$dx);
  let assemblyFormat = [{$dy `,` $x `,` $gain `` custom<Eps>($eps) `:` type($dy) `,` type($x) `,` type($gain) `->` type($dx)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_LayerNormParamGradOp : NN_ComputeOp<"layer_norm_param_grad", (ins NN_Tensor:$dy, NN_Tensor:$x, F64Attr:$eps),
    [NN_MayWiden]> {
  let summary = "gradients of gain (sum of dy * normalised x) and bias (sum of dy) over all rows";
  let results = (outs NN_Tensor:$dgain, NN_Tensor:$dbias);
  let assemblyFormat = [{$dy `,` $x `` custom<Eps>($eps) `:` type($dy) `,` type($x) `->` type($dgain) `,` type($dbias)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_RmsNormGradOp : NN_ComputeOp<"rms_norm_grad", (ins NN_Tensor:$dy, NN_Tensor:$x, NN_Tensor:$gain, F64Attr:$eps)> {
  let results = (outs NN_Tensor:$dx);
  let assemblyFormat = [{$dy `,` $x `,` $gain `` custom<Eps>($eps) `:` type($dy) `,` type($x) `,` type($gain) `->` type($dx)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_RmsNormParamGradOp : NN_ComputeOp<"rms_norm_param_grad", (ins NN_Tensor:$dy, NN_Tensor:$x, F64Attr:$eps),
    [NN_MayWiden]> {
  let results = (outs NN_Tensor:$dgain);
  let assemblyFormat = [{$dy `,` $x `` custom<Eps>($eps) `:` type($dy) `,` type($x) `->` type($dgain)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_AttentionGradOp : NN_CostedOp<"attention_grad", !con((ins NN_Tensor:$dy, NN_Tensor:$q, NN_Tensor:$k, NN_Tensor:$v,
    NN_Tensor:$q_positions, NN_Tensor:$k_positions, NN_Tensor:$y, NN_Tensor:$lse, Variadic<NN_Tensor>:$documents),
    attentionMask)> {
  let summary = "gradients of q, k, v from dy, the output y and the log-sum-exp that the forward kept";
  let results = (outs NN_Tensor:$dq, NN_Tensor:$dk, NN_Tensor:$dv);
  let assemblyFormat = [{$dy `,` $q `,` $k `,` $v `at` $q_positions `,` $k_positions `,` $y `,` $lse (`documents` $documents^)?
      custom<AttentionMask>($mask, $scale, $window, $softcap, $ring)
      `:` type($dy) `,` type($q) `,` type($k) `,` type($v) `,` type($q_positions) `,` type($k_positions) `,` type($y) `,` type($lse) (`,` type($documents)^)?
      `->` type($dq) `,` type($dk) `,` type($dv) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_CrossEntropyGradOp : NN_OffsetOp<"cross_entropy_grad", (ins NN_Tensor:$dsum, NN_Tensor:$logits, NN_Tensor:$labels,
    NN_Tensor:$lse, Optional<I64>:$offset)> {
  let summary = "dlogits = dsum (exp(logits - lse) - onehot(label - offset)), zero in rows whose label is -1";
  let results = (outs NN_Tensor:$dlogits);
  let assemblyFormat = [{$dsum `,` $logits `,` $labels `,` $lse (`offset` $offset^)?
      `:` type($dsum) `,` type($logits) `,` type($labels) `,` type($lse) `->` type($dlogits)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

// ---- pieces of cross-entropy: every factor, the vocabulary too, may be split -----------------------------------------
def NN_RowMaxOp : NN_ComputeOp<"row_max", (ins NN_Tensor:$x), [NN_MayWiden]> {
  let summary = "greatest element of the last dimension; reduced by max";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_RowSumExpOp : NN_ComputeOp<"row_sum_exp", (ins NN_Tensor:$x, NN_Tensor:$max), [NN_MayWiden]> {
  let summary = "sum of exp(x - max) over the last dimension";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `,` $max `:` type($x) `,` type($max) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_PickOp : NN_OffsetOp<"pick", (ins NN_Tensor:$x, NN_Tensor:$ids, Optional<I64>:$offset), [NN_MayWiden]> {
  let summary = "y[…] = x[…, ids[…] - offset], zero where that is outside";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `,` $ids (`offset` $offset^)? `:` type($x) `,` type($ids) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_CountTokensOp : NN_ComputeOp<"count_tokens", (ins NN_Tensor:$labels)> {
  let summary = "how many labels are not -1";
  let results = (outs NN_Tensor:$count);
  let assemblyFormat = "$labels `:` type($labels) `->` type($count) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
#endif
