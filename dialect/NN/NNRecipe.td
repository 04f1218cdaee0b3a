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
  let summary = "params T compute T accumulate T [reduce T] [master T]";
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
