// The dist dialect and its attributes. No ops: other dialects include this file.
#ifndef HOCKET_DIST_BASE_TD
#define HOCKET_DIST_BASE_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/Dist/DistEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/NN/NNInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::hocket::dist";
  let summary = "where each value lives, and what is sent";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::hocket::nn::NNDialect"];
  let extraClassDeclaration = "void registerAttributes();";
}
class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_AxesAttr : AttrDef<Dist_Dialect, "Axes"> {
  let mnemonic = "axes";
  let summary = "a list of mesh axes or sub-axes, major to minor: {\"dp\", \"tp\":(1)2}";
  let description = [{
    A sub-axis "tp":(k)m of an axis of n devices: n = k * m * rest; index i along the axis has the coordinate (i / rest) % m.
    So "tp":(1)2 is the major half of the split and, for n = 4, "tp":(2)2 the minor one.
  }];
  let parameters = (ins ArrayRefParameter<"::hocket::dist::AxisRef">:$refs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool empty() const { return getRefs().empty(); }
  }];
}

def Dist_ShardingAttr : AttrDef<Dist_Dialect, "Sharding", [OpAsmAttrInterface,
    DeclareAttrInterfaceMethods<NN_ShardingAttrInterface>]> {
  let mnemonic = "sharding";
  let summary = "#dist.sharding<@cluster, [{\"dp\"}, {}, {\"tp\", ?}], partial={\"pp\"}>";
  let description = [{
    For each dimension the axes that split it, major to minor (`?`: more may be added by propagation), and the axes over which
    the value is partial: what ranks hold along them must still be joined, by sum unless it says `partial=max{…}`. An axis is
    used once. Along axes that are not named the value is whole, the same on every rank.
    Uneven dimensions: each axis in turn cuts what the ones before it left, n, into pieces of ceil(n / size); the last pieces
    may be short or empty. Local shapes are the padded ones.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"::hocket::dist::DimSharding">:$dims,
                        ArrayRefParameter<"::hocket::dist::AxisRef">:$partial, "::hocket::dist::Reduction":$reduction);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::mlir::OpAsmAliasResult getAlias(::llvm::raw_ostream &os) const;
    bool isPartial() const { return !getPartial().empty(); }
    /// Nothing split, nothing partial.
    bool isWhole() const;
    static ShardingAttr whole(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    ShardingAttr withoutPartial() const;
    ShardingAttr withPartial(::llvm::ArrayRef<AxisRef> partial, Reduction reduction = Reduction::Sum) const;
    ShardingAttr withDim(int64_t dim, ::llvm::ArrayRef<AxisRef> axes) const;
  }];
}
// On values of a local program: what the value is a shard of.
def Dist_ShardAttr : AttrDef<Dist_Dialect, "Shard", [DeclareAttrInterfaceMethods<NN_ShardingAttrInterface>]> {
  let mnemonic = "shard";
  let summary = "#dist.shard<tensor<4x128x256xf32>, #sharding>: the global type and how it is spread";
  let parameters = (ins "::mlir::RankedTensorType":$global, "::hocket::dist::ShardingAttr":$sharding);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $global `,` $sharding `>`";
}

def Dist_MeshAxisAttr : AttrDef<Dist_Dialect, "MeshAxis"> {
  let mnemonic = "axis";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `=` $size `>`";
}
#endif
