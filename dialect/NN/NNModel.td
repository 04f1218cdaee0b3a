// The language of models: blocks and models, parameters, calls.
#ifndef HOCKET_NN_MODEL_TD
#define HOCKET_NN_MODEL_TD
include "dialect/NN/NNBase.td"

class NN_FuncOp<string mnemonic> : NN_Op<mnemonic, [IsolatedFromAbove, FunctionOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>, SingleBlock]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrArrayAttr>:$arg_names);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "nn"; }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}
def NN_BlockOp : NN_FuncOp<"block"> { let summary = "a reusable piece of model"; }
def NN_ModelOp : NN_FuncOp<"model"> {
  let summary = "a model: batches of tokens and labels in, the loss sum and the count of tokens out";
}

def NN_ReturnOp : NN_Op<"return", [Terminator, Pure, ReturnLike]> {
  let summary = "ends a block, a model, or an elementwise body";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def NN_ParamOp : NN_Op<"param", [ParentOneOf<["BlockOp", "ModelOp"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a parameter with its natural shape; never merged, never dropped";
  let arguments = (ins StrAttr:$name, NN_InitAttr:$init);
  let results = (outs NN_Tensor:$value);
  let assemblyFormat = "$name `:` type($value) `init` custom<InitClause>($init) attr-dict";
  let hasVerifier = 1;
}

def NN_CallOp : NN_Op<"call", [ParentOneOf<["BlockOp", "ModelOp"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a block in place; its parameters are named NAME.…";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args, StrAttr:$name);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $args `)` `as` $name attr-dict `:` custom<CallTypes>(type($args), type($results))";
  let hasVerifier = 1;
}
def NN_RepeatOp : NN_Op<"repeat", [ParentOneOf<["BlockOp", "ModelOp"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a block `count` times over: layers NAME.0, NAME.1, …; stages are cut between them";
  let description = [{
    The block maps its first arguments to themselves, one for each result; further arguments (positions) are given to every
    copy unchanged. The types of the results are printed where they are not those of all arguments.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args, I64Attr:$count, StrAttr:$name);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $args `)` $count `as` $name attr-dict `:` custom<CallTypes>(type($args), type($results))";
  let hasVerifier = 1;
}
#endif
