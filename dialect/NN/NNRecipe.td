// The recipe: all that changes numerics and is no mathematics of the model.
#ifndef HOCKET_NN_RECIPE_TD
#define HOCKET_NN_RECIPE_TD
include "dialect/NN/NNBase.td"

def NN_RecipeOp : NN_Op<"recipe", [OpAsmOpInterface, Symbol, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "optimizer, precision, batch, learning rate, clip, seed, parameter groups";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `for` $model attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "nn"; }
    /// The entry of type OpT, null if the recipe has none.
    template <typename OpT> OpT entry() {
      for (::mlir::Operation &op : getBody().front())
        if (auto found = ::mlir::dyn_cast<OpT>(op)) return found;
      return {};
    }
  }];
}
class NN_RecipeEntry<string mnemonic> : NN_Op<mnemonic, [HasParent<"RecipeOp">]> { let hasVerifier = 1; }

def NN_BatchOp : NN_RecipeEntry<"batch"> {
  let summary = "sequences of one step, over all ranks";
  let arguments = (ins I64Attr:$sequences);
  let assemblyFormat = "$sequences `sequences` attr-dict";
}
def NN_PrecisionOp : NN_RecipeEntry<"precision"> {
  let summary = "which float type what is kept in: params T compute T accumulate T [reduce T] [master T]";
  let description = [{
    Models are written in f32. `params`: parameters at rest. `compute`: what the forward reads and makes, and gradients of
    activations (norms, softmax, log-sum-exp and the loss compute inside in f32 all the same). `accumulate`: gradients of
    parameters, made so by the op that contracts, and their accumulators. `reduce`: what goes over the data axes
    (as accumulate unless said). `master`: the copy of a parameter that the optimizer works on, where parameters are narrower.
    Moments are f32. Types are f32, bf16 and f16.
    C1: params is f32 or as compute. C2: accumulate and reduce are f32 or as compute (so none has less range, and none is
    narrower without being asked for). C3: master is f32, or as params (then there is none).
  }];
  let arguments = (ins TypeAttr:$params, TypeAttr:$compute, TypeAttr:$accumulate, OptionalAttr<TypeAttr>:$reduce,
                       OptionalAttr<TypeAttr>:$master);
  let assemblyFormat = "`params` $params `compute` $compute `accumulate` $accumulate (`reduce` $reduce^)? (`master` $master^)? attr-dict";
}
def NN_OptimizerOp : NN_RecipeEntry<"optimizer"> {
  let summary = "AdamW (Loshchilov and Hutter 2019, algorithm 2); matrices decay, vectors do not unless a group says so";
  let arguments = (ins DenseF64ArrayAttr:$betas, F64Attr:$eps, F64Attr:$weight_decay);
  let assemblyFormat = "`adamw` `(` custom<AdamW>($betas, $eps, $weight_decay) `)` attr-dict";
}
def NN_LearningRateOp : NN_RecipeEntry<"learning_rate"> {
  let summary = "linear warm-up to `peak` over `warmup` steps, cosine to `floor` at step `decay`; or constant";
  let arguments = (ins F64Attr:$peak, I64Attr:$warmup, OptionalAttr<I64Attr>:$decay, F64Attr:$floor);
  let assemblyFormat = "custom<LearningRate>($peak, $warmup, $decay, $floor) attr-dict";
}
def NN_ClipOp : NN_RecipeEntry<"clip"> {
  let summary = "greatest norm of all gradients together";
  let arguments = (ins F64Attr:$norm);
  let assemblyFormat = "custom<Real>($norm) attr-dict";
}
def NN_LossScaleOp : NN_RecipeEntry<"loss_scale"> {
  let summary = "the loss is multiplied by a number, so that f16 gradients do not vanish: static(1024), or dynamic";
  let description = [{
    A step whose gradients are not all finite is skipped: it leaves parameters, optimizer and count of updates as they are.
    Dynamic: after `interval` steps without overflow the scale is multiplied by `growth`. An overflow uses up one of
    `hysteresis` chances; when but one is left it multiplies the scale by `backoff`, down to `floor`. Growth gives the chances
    back. An overflow at `floor` with no chance left ends the run.
  }];
  let arguments = (ins F64Attr:$initial, OptionalAttr<F64Attr>:$growth, OptionalAttr<F64Attr>:$backoff,
                       OptionalAttr<I64Attr>:$interval, OptionalAttr<I64Attr>:$hysteresis, OptionalAttr<F64Attr>:$floor);
  let assemblyFormat = "custom<LossScale>($initial, $growth, $backoff, $interval, $hysteresis, $floor) attr-dict";
  let extraClassDeclaration = [{ bool isDynamic() { return bool(getGrowthAttr()); } }];
}
def NN_CapacityOp : NN_RecipeEntry<"capacity"> {
  let summary = "how many tokens of a sequence an expert takes, ceil(k s factor / experts): 1 is an even share";
  let arguments = (ins F64Attr:$factor);
  let assemblyFormat = "custom<Real>($factor) attr-dict";
}
def NN_AuxiliaryLossOp : NN_RecipeEntry<"auxiliary_loss"> {
  let summary = "coefficient of the routers' load-balancing loss; without this entry there is none";
  let arguments = (ins F64Attr:$coefficient);
  let assemblyFormat = "custom<Real>($coefficient) attr-dict";
}
def NN_SeedOp : NN_RecipeEntry<"seed"> {
  let arguments = (ins I64Attr:$seed);
  let assemblyFormat = "$seed attr-dict";
}
def NN_GroupOp : NN_RecipeEntry<"group"> {
  let summary = "parameters by name pattern: their own rate, decay, or frozen";
  let arguments = (ins StrAttr:$pattern, OptionalAttr<F64Attr>:$lr_scale, OptionalAttr<F64Attr>:$weight_decay,
                       UnitAttr:$frozen);
  let assemblyFormat = [{
    $pattern oilist(`lr_scale` custom<Real>($lr_scale) | `weight_decay` custom<Real>($weight_decay) | `frozen` $frozen) attr-dict
  }];
}
#endif
