// The nn dialect, its attributes, and what all of its ops share.
#ifndef HOCKET_NN_BASE_TD
#define HOCKET_NN_BASE_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/NN/NNEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "dialect/NN/NNInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::hocket::nn";
  let summary = "what is computed: whole tensors, whole model, no devices";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic, traits>;


def NN_InitAttr : AttrDef<NN_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "zeros, ones, normal(deviation) or constant(value)";
  let parameters = (ins "::hocket::nn::InitKind":$kind, "::mlir::FloatAttr":$scale);
  let hasCustomAssemblyFormat = 1;
}

// The layer an op came from ("h.3.attn"), when it runs, and where its results live (one sharding a result). Inherent:
// later passes read them. Printed `in "h.3.attn" backward on [#dp_r_tp]`.
defvar placement = (ins OptionalAttr<StrAttr>:$path, OptionalAttr<NN_Phase>:$phase, OptionalAttr<ArrayAttr>:$shardings);
def NN_Placed : NativeOpTrait<"Placed"> { let cppNamespace = "::hocket::nn"; }
// A float result may be of a wider type than the operands: the op sums in f32 and rounds once (or not at all), at the end.
def NN_MayWiden : NativeOpTrait<"MayWiden"> { let cppNamespace = "::hocket::nn"; }
defvar nameResults = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn set) { ::hocket::nn::nameResults(*this, set); }
}];
class NN_PlacedOp<string mnemonic, dag specific, list<Trait> traits = []> : NN_Op<mnemonic, traits # [NN_Placed,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = !con(specific, placement);
  let extraClassDefinition = nameResults;
}
// An op of the mathematics: pure, with factors, cost and meaning.
class NN_ComputeOp<string mnemonic, dag specific, list<Trait> traits = []> : NN_PlacedOp<mnemonic, specific, [Pure,
    DeclareOpInterfaceMethods<NN_FactorOpInterface>, DeclareOpInterfaceMethods<NN_ReferenceOpInterface>] # traits> {
  let hasVerifier = 1;
}
// One that knows its own cost.
class NN_CostedOp<string mnemonic, dag specific, list<Trait> traits = []> : NN_PlacedOp<mnemonic, specific, [Pure,
    DeclareOpInterfaceMethods<NN_FactorOpInterface>,
    DeclareOpInterfaceMethods<NN_ReferenceOpInterface, ["getFlops"]>] # traits> {
  let hasVerifier = 1;
}
// One whose rule may have a factor that needs an offset; it has the operand `offset`.
class NN_OffsetOp<string mnemonic, dag specific, list<Trait> traits = []> : NN_PlacedOp<mnemonic, specific, [Pure,
    DeclareOpInterfaceMethods<NN_FactorOpInterface, ["setOffsetOperand"]>,
    DeclareOpInterfaceMethods<NN_ReferenceOpInterface>] # traits> {
  let hasVerifier = 1;
  let extraClassDefinition = nameResults # [{
    void $cppClass::setOffsetOperand(int64_t, ::mlir::Value offset) { getOffsetMutable().assign(offset); }
  }];
}
defvar differentiable = [DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>];

def NN_Tensor : Type<AnyRankedTensor.predicate, "ranked tensor", "::mlir::RankedTensorType">;
#endif
