// The enums of the nn dialect: text, parser and flag come from here.
#ifndef HOCKET_NN_ENUMS_TD
#define HOCKET_NN_ENUMS_TD
include "mlir/IR/EnumAttr.td"

// When an op of the microbatch region runs. Set by autodiff, and recompute by dist-recompute for the copies of forward ops that
// stand before backward ops; the schedule makes bodies from it.
def NN_Phase : I32EnumAttr<"Phase", "part of a microbatch's work", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"WeightGrad", 2, "weight_grad">, I32EnumAttrCase<"Recompute", 3, "recompute">]> {
  let cppNamespace = "::hocket::nn";
}

// How a parameter starts. Values are made by the runtime from (seed, name, global index).
def NN_InitKind : I32EnumAttr<"InitKind", "initialiser", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">, I32EnumAttrCase<"Normal", 2, "normal">,
    I32EnumAttrCase<"Constant", 3, "constant">]> {
  let cppNamespace = "::hocket::nn";
}

def NN_MaskKind : I32EnumAttr<"MaskKind", "attention mask", [
    I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Causal", 1, "causal">]> {
  let cppNamespace = "::hocket::nn";
}

// How a router's logits become scores.
def NN_ScoreKind : I32EnumAttr<"ScoreKind", "scores of a router", [
    I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]> {
  let cppNamespace = "::hocket::nn";
}

// What a slot holds, and for how long:
//   param, first_moment, second_moment, master, state   from step to step (the state table): master is the wider copy of a
//                parameter that the optimizer works on, state a number without dimensions (loss scale, count of updates)
//   accumulator  zero at the start of a step, carried from microbatch to microbatch, read by update
//   value        written by begin, read by microbatch and update
//   input        given by the data loader (or the step number); output: read by the launcher after update
def NN_SlotKind : I32EnumAttr<"SlotKind", "kind of slot", [
    I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"FirstMoment", 1, "first_moment">,
    I32EnumAttrCase<"SecondMoment", 2, "second_moment">, I32EnumAttrCase<"Accumulator", 3, "accumulator">,
    I32EnumAttrCase<"Value", 4, "value">, I32EnumAttrCase<"Input", 5, "input">, I32EnumAttrCase<"Output", 6, "output">,
    I32EnumAttrCase<"Master", 7, "master">, I32EnumAttrCase<"State", 8, "state">]> {
  let cppNamespace = "::hocket::nn";
}
#endif
