// The passes over nn: from a model of blocks to one training step over whole tensors.
#ifndef HOCKET_PASSES_NN_TD
#define HOCKET_PASSES_NN_TD
include "mlir/Pass/PassBase.td"

def InlineBlocksPass : Pass<"nn-inline-blocks", "::mlir::ModuleOp"> {
  let summary = "puts the blocks that models call in place, names their parameters, and gives every op its path";
  let description = [{
    `call @block(%x) as "h.3"` becomes the block's ops; its parameter `attn.qkv.weight` becomes `h.3.attn.qkv.weight`.
    Calls and repeats nest. Two parameters of one name are an error.

    Path of an op = the names of the calls it came through, joined with dots, then its group:
      * an op that uses parameters: their names without the last component (`h.3.attn.qkv`), what they have in common
        (`h.3.ln_1` of `h.3.ln_1.weight` and `h.3.ln_1.bias`); a name of one component stands for itself outside of blocks;
      * an op without parameters: what its nearest neighbours with parameters, before and behind it in the same block, have
        in common (`h.3.attn` for the attention between `attn.qkv` and `attn.proj`, `h.3` for a residual add); the block's
        arguments and results count as neighbours in no group;
      * the k-th use of a tied parameter: `wte#k`, so that the head and the embedding can lie in different stages;
      * what is in no group and no call (the loss) goes with the op that made its last operand; what depends on no
        parameter (positions) has the empty path: it may run anywhere.
    Locations: named by the path, and a call site for each call, so that a message shows the user's line and who called.
  }];
}

def VerifyModelPass : Pass<"nn-verify-model", "::mlir::ModuleOp"> {
  let summary = "checks what spans ops in models and recipes, after blocks are inlined; reports every fault";
  let description = [{
    Models: there are parameters; every parameter has a path to the loss (or every recipe freezes it); arguments are used; the
    count is of labels that are an argument. Floats are f32: the recipe's precision chooses types. Recipes: each group's pattern fits a parameter; no two groups
    set the same thing on one parameter.
  }];
}

def BuildTrainingStepPass : Pass<"nn-build-training-step", "::mlir::ModuleOp"> {
  let summary = "fixes the batch and makes begin, microbatch, update and evaluate from a model and its recipe";
  let description = [{ Names and order of everything made stand in passes/NN/TrainingStep.h. }];
  let options = [
    Option<"recipe", "recipe", "std::string", "\"\"", "name of the recipe; may be left out if the module has one">,
    Option<"plan", "plan", "std::string", "\"\"", "name of the plan, recorded in the step">,
    Option<"rows", "rows", "int64_t", "0", "sequences of one microbatch of all data-parallel ranks together; 0: batch / microbatches">,
    Option<"microbatches", "microbatches", "int64_t", "1", "microbatches of a step">,
    Option<"stepName", "name", "std::string", "\"train\"", "symbol of the training step">
  ];
}

def DecomposeLossPass : Pass<"nn-decompose-loss", "::mlir::ModuleOp"> {
  let summary = "takes cross_entropy apart into row reductions and elementwise ops, so that the vocabulary may be split";
  let description = [{
    sum of (log-sum-exp - logit of the label) over counted tokens, with log-sum-exp = max + log(sum of exp(x - max)). The
    log-sum-exp that the backward keeps becomes that value. Runs after autodiff: the pieces have no derivative of their own.
  }];
}
#endif
