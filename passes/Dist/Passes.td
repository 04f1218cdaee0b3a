// The passes of the where layer: from a training step over whole tensors and a plan to the program of one rank.
#ifndef HOCKET_PASSES_DIST_TD
#define HOCKET_PASSES_DIST_TD
include "mlir/Pass/PassBase.td"

def ApplyPlanPass : Pass<"dist-apply-plan", "::mlir::ModuleOp"> {
  let summary = "turns the tactics of the plan into shardings of slots: parameters, their state, inputs";
  let description = [{
    For every `nn.training_step` under a plan: `batch` splits the rows of inputs, `split` dimensions of parameters,
    `split megatron` what it finds by factors, `split auto` what costs least, for which explicit tactics then stand in the plan;
    parameters that follow from these (a bias) are found by propagation. Then
    moments and accumulators: as their parameter; accumulators partial over the data axes; moments under ZeRO-1 split over
    them as well, accumulators under ZeRO-2, parameters under ZeRO-3 (then the plan is told how they are gathered, where it does
    not say). Every fault of the plan is reported. Afterwards every slot has a sharding.
  }];
  let options = [
    Option<"wholeBelow", "whole-below", "int64_t", "65536",
           "ZeRO leaves the state of parameters with fewer bytes than this whole">,
    Option<"print", "print", "bool", "false",
           "a remark at `split megatron` and `split auto` with the explicit tactics they stand for">,
    Option<"machine", "machine", "std::string", "\"cpu\"", "what `split auto` prices forms for: cpu or gpu (StepCost.h)">
  ];
}

def PropagateShardingsPass : Pass<"dist-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "finds the sharding of every value from those of the slots";
  let description = [{
    Works on factors, forward and backward until nothing changes (passes/Dist/Propagation.h says how). Every result gets the
    sharding in which its op makes it, partial ones included. A split that no op on the way can carry, and two tactics that
    would need one axis twice in an op, are errors.
  }];
}

def PartitionPass : Pass<"dist-partition", "::mlir::ModuleOp"> {
  let summary = "from the global program to the program of one rank: local types, collectives, offsets, masks";
  let description = [{
    Each operand whose sharding differs from what its op needs goes through a reshard, each reshard through the cheapest
    collectives (passes/Dist/Reshard.h), one for all uses with the same need, placed behind the op that made the value.
    Reductions of scalars over the same axes in `update` become one. Afterwards no op has operands in disagreement, and
    every result and slot says of what it is a shard (#dist.shard).
  }];
}

def RecomputePass : Pass<"dist-recompute", "::mlir::ModuleOp"> {
  let summary = "copies ops of forward before the ops of backward that read what they make, instead of keeping it";
  let description = [{
    Of the local program. For every `recompute` tactic of the plan: values that its units make (passes/Dist/RecomputeUnits.h)
    and that are chosen (passes/Dist/RemadeValues.h) are made again, by ops of phase `recompute` that differ from those of
    forward in nothing else, right before their first use in backward or weight_grad. Collectives are made again under
    `full` only, and say so in their cause. Refused where the same bits cannot be proved: an op that is no function of its
    operands, or reads a slot that the microbatch writes. dist-verify-partition proves each copy to be one.
  }];
}

def VerifyPlannedTransfersPass : Pass<"dist-verify-planned-transfers", "::mlir::ModuleOp"> {
  let summary = "fails where ranks send more than allowed that no tactic asks for";
  let description = [{
    Of the local program. passes/Dist/PlannedTransfers.h says which collectives are asked for. The error names the sum of the
    others, over a step and of one rank, and in notes each of them with its op, its bytes and the tactic that would remove it.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "0", "what one rank may send so in a step">
  ];
}
#endif
