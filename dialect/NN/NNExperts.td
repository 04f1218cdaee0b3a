// Mixture of experts (Shazeer et al. 2017; Lepikhin et al. 2020, "GShard"): which expert gets which token, the way there
// and back. Letters: b batch, s sequence, h hidden, e experts, k experts of one token, c capacity: tokens of one sequence
// that one expert takes.
//
// A router numbers the places of a sequence's tokens: place e c + i is the i-th token of expert e. It gives the numbers
// both ways round, so that dispatch and combine, and the derivatives of both, only ever read rows and never add to one row
// from two sides: `slots` [b, s, k], the place of each token's j-th choice (-1: no place was left), and `tokens` [b, e, c],
// the token in each place (-1: none).
#ifndef HOCKET_NN_EXPERTS_TD
#define HOCKET_NN_EXPERTS_TD
include "dialect/NN/NNBase.td"

def NN_RouterLogitsOp : NN_CostedOp<"router_logits", (ins NN_Tensor:$x, NN_Tensor:$w), differentiable> {
  let summary = "x w in f32 whatever is computed in, and with h never split, so that no plan changes a choice";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `,` $w `:` type($x) `,` type($w) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
defvar routerOptions = (ins I64Attr:$top, DefaultValuedAttr<NN_ScoreKind, "::hocket::nn::ScoreKind::Softmax">:$scores,
    UnitAttr:$normalized, DefaultValuedAttr<F64Attr, "1.0">:$scale, DefaultValuedAttr<F64Attr, "0.0">:$balance);
def NN_RouterOp : NN_ComputeOp<"router", !con((ins NN_Tensor:$logits, NN_Tensor:$positions), routerOptions), differentiable> {
  let summary = "the `top` experts of each token by logit, their weights, and who finds place";
  let description = [{
    Scores are softmax over all experts, or the sigmoid of each. The experts of a token are those of its greatest logits, the
    lower expert where two are equal. Weights are their scores, `normalized` to the sum 1, times `scale`. Each expert takes
    the first c tokens of each sequence, in order of `positions` [b, s] i32 and not of where they lie; others have the slot -1
    and contribute nothing. The recipe's `capacity` says c: ceil(k s capacity / e).
    `load` [b] = balance e (sum over experts of f p) for each sequence, where f is the part of the sequence's choices that are
    this expert (places or not; no gradient goes through it) and p the sum over its tokens of the score (over the sum of the
    token's scores): Fedus et al. 2021, equation 4, times the tokens of the sequence. Its sum is added to the loss sum, so it
    becomes a mean over tokens as that does. `balance` is the recipe's `auxiliary_loss`.
  }];
  let results = (outs NN_Tensor:$weights, NN_Tensor:$slots, NN_Tensor:$tokens, NN_Tensor:$load);
  let assemblyFormat = [{$logits `at` $positions `top` $top `` custom<Router>($scores, $normalized, $scale, $balance)
      `:` type($logits) `,` type($positions) `->` type($weights) `,` type($slots) `,` type($tokens) `,` type($load)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_RouterGradOp : NN_ComputeOp<"router_grad", !con((ins NN_Tensor:$dweights, NN_Tensor:$logits,
    Optional<NN_Tensor>:$dload), routerOptions)> {
  let summary = "gradient of the logits; which experts were chosen is found again";
  let results = (outs NN_Tensor:$dlogits);
  let assemblyFormat = [{$dweights `,` $logits (`load` $dload^)? `top` $top `` custom<Router>($scores, $normalized, $scale, $balance)
      `:` type($dweights) `,` type($logits) (`,` type($dload)^)? `->` type($dlogits)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

class NN_RouteOp<string mnemonic> : NN_ComputeOp<mnemonic, (ins NN_Tensor:$x, NN_Tensor:$slots, NN_Tensor:$tokens,
    Optional<NN_Tensor>:$weights), differentiable> {
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `by` $slots `,` $tokens (`weighted` $weights^)?
      `:` type($x) `,` type($slots) `,` type($tokens) (`,` type($weights)^)? `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_DispatchOp : NN_RouteOp<"dispatch"> {
  let summary = "tokens to their experts: x [b, s, h] -> [e, b, c, h], zero in places without a token";
  let description = [{
    Experts come first, so that the products of all of them are one GEMM with a batch. `weighted`: each row times the
    weight of the choice that brought it there (the gradient of a weighted combine).
  }];
}
def NN_CombineOp : NN_RouteOp<"combine"> {
  let summary = "back: x [e, b, c, h] -> [b, s, h], for each token the (weighted) sum over its places, in order of choice";
}
def NN_CombineGradOp : NN_ComputeOp<"combine_grad", (ins NN_Tensor:$x, NN_Tensor:$dy, NN_Tensor:$slots), [NN_MayWiden]> {
  let summary = "gradient of the weights: x [e, b, c, h] at each place times dy [b, s, h] of its token, zero without a place";
  let results = (outs NN_Tensor:$dweights);
  let assemblyFormat = [{$x `,` $dy `by` $slots `:` type($x) `,` type($dy) `,` type($slots) `->` type($dweights)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
#endif
