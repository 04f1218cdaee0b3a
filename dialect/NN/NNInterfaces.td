// What every op of the nn dialect states about itself, once: how its dimensions relate (factors), how it is linear, its
// derivative, its cost, and its meaning (reference semantics). Passes ask these interfaces and know no op by name.
#ifndef HOCKET_NN_INTERFACES_TD
#define HOCKET_NN_INTERFACES_TD
include "mlir/IR/OpBase.td"

/// An attribute that says where a value lives. nn ops carry it and do not look inside; #dist.sharding implements it.
def NN_ShardingAttrInterface : AttrInterface<"ShardingAttrInterface"> {
  let cppNamespace = "::hocket::nn";
  let description = [{ How one value is spread over a mesh: split per dimension, and partial. }];
  let methods = [
    InterfaceMethod<"Number of dimensions it speaks of.", "int64_t", "getShardedRank">
  ];
}

def NN_FactorOpInterface : OpInterface<"FactorOpInterface"> {
  let cppNamespace = "::hocket::nn";
  let description = [{
    An einsum-like rule built for the instance. A factor is an index that runs over one dimension of some operands and
    results. Splitting a factor over a mesh axis splits every dimension it runs over; a result without a factor that is
    split becomes partial over that axis, by the op's reduction. See FactorRule.
  }];
  let methods = [
    InterfaceMethod<"The rule of this op.", "::hocket::nn::FactorRule", "getFactorRule">,
    InterfaceMethod<[{Gives the op the offset of its shard (an i64 value) in a factor of its rule that is marked
        `needsOffset`; set by the partitioner once that factor is split. An op may have several such factors.}],
      "void", "setOffsetOperand", (ins "int64_t":$factor, "::mlir::Value":$offset), [{}],
      [{ (void)factor, (void)offset; }]>,
    InterfaceMethod<[{The factor whose offset operand number `operand` (an i64 value) is; -1 if it is the offset of none.
        An op with one factor that needs an offset takes every i64 for it.}],
      "int64_t", "getOffsetFactor", (ins "unsigned":$operand), [{}],
      [{ return ::hocket::nn::onlyOffsetFactor($_op, operand); }]>
  ];
}

def NN_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::hocket::nn";
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands from those of the results. `resultGrads` has one value for each result, null
      where no gradient reaches it. `needed` says for each operand whether its gradient is asked for; `operandGrads` (one
      null value for each operand at entry) receives what is not null. The op's own results may be used.
      An op that must keep more for its gradient (attention and cross_entropy: the log-sum-exp) puts a new op in its place
      and erases itself, so the caller must not use the op afterwards. The new one keeps path and phase, and is made
      without `builder`, so that no listener takes it for a part of the gradient.
    }], "void", "buildGradient", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGrads,
        "const ::llvm::BitVector &":$needed, "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>
  ];
}

def NN_ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::hocket::nn";
  let description = [{ Meaning and cost, on static shapes. Plain loops; it judges everything else. }];
  let methods = [
    InterfaceMethod<[{
      Computes the results from the operands in float64. `results` come with their shapes set and every element NaN.
      Works on local (partitioned) shapes too: what lies in padding may be anything and must not reach a real element.
    }], "void", "evaluate", (ins "::llvm::ArrayRef<const ::hocket::nn::HostTensor *>":$operands,
        "::llvm::MutableArrayRef<::hocket::nn::HostTensor>":$results)>,
    InterfaceMethod<"Floating-point operations, a multiply-add counted as two.", "int64_t", "getFlops", (ins), [{}],
      [{ return ::hocket::nn::resultElements($_op); }]>
  ];
}

def NN_ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::hocket::nn";
  let description = [{ An op that does the same to every element: it is its scalar body. Kernels are made from it. }];
  let methods = [
    InterfaceMethod<[{
      Emits the body (arith and math ops on scalars) at the builder's place. `args`: one scalar an operand, of scalarType of
      the operand's element type (f32 for bf16 and f16). Returns one scalar a result, likewise; who stores it rounds it. An operand of lower rank is repeated along the leading dimensions.
    }], "::llvm::SmallVector<::mlir::Value>", "buildScalarBody", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$args)>
  ];
}
def NN_RetypedOpInterface : OpInterface<"RetypedOpInterface"> {
  let cppNamespace = "::hocket::nn";
  let description = [{ An op whose regions hold tensors: their types follow when batch and precision become known. }];
  let methods = [
    InterfaceMethod<"Gives every value in the regions the type that `of` makes of its own.", "void", "retype",
        (ins "::llvm::function_ref<::mlir::RankedTensorType(::mlir::RankedTensorType)>":$of)>
  ];
}
#endif
