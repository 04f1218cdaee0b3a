// The enums of the step dialect: text, parser and flag come from here. They mirror those of runtime/Program/program.fbs.
#ifndef HOCKET_STEP_ENUMS_TD
#define HOCKET_STEP_ENUMS_TD
include "mlir/IR/EnumAttr.td"

// Where a buffer's offset counts from: the rank's arena; the slot of the microbatch that runs; or the arena plus
// microbatch * bytes (inputs: the whole local batch lies in the arena). The host's memory has an arena and slots as well: those of
// the same number as the device's.
def Step_Space : I32EnumAttr<"Space", "memory space", [
    I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Slot", 1, "slot">, I32EnumAttrCase<"Microbatch", 2, "microbatch">,
    I32EnumAttrCase<"Host", 3, "host">, I32EnumAttrCase<"HostSlot", 4, "host_slot">]> {
  let cppNamespace = "::hocket::step";
}
// What a buffer is for, in memory reports.
def Step_MemoryClass : I32EnumAttr<"MemoryClass", "memory class", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"OptimizerState", 1, "optimizer_state">,
    I32EnumAttrCase<"Accumulator", 2, "accumulator">, I32EnumAttrCase<"Input", 3, "input">,
    I32EnumAttrCase<"Activation", 4, "activation">, I32EnumAttrCase<"Workspace", 5, "workspace">,
    I32EnumAttrCase<"Communication", 6, "communication">, I32EnumAttrCase<"Scalar", 7, "scalar">]> {
  let cppNamespace = "::hocket::step";
}
// Final: the last microbatch's, which also starts the reductions of gradients.
def Step_BodyKind : I32EnumAttr<"BodyKind", "kind of body", [
    I32EnumAttrCase<"Begin", 0, "begin">, I32EnumAttrCase<"Forward", 1, "forward">, I32EnumAttrCase<"Backward", 2, "backward">,
    I32EnumAttrCase<"WeightGrad", 3, "weight_grad">, I32EnumAttrCase<"Recompute", 4, "recompute">,
    I32EnumAttrCase<"Update", 5, "update">, I32EnumAttrCase<"Evaluate", 6, "evaluate">,
    I32EnumAttrCase<"FinalBackward", 7, "final_backward">, I32EnumAttrCase<"FinalWeightGrad", 8, "final_weight_grad">]> {
  let cppNamespace = "::hocket::step";
}
// Values of Row.h.
def Step_MessageValues : I32EnumAttr<"MessageValues", "kind of values", [
    I32EnumAttrCase<"Activation", 0, "activation">, I32EnumAttrCase<"Gradient", 1, "gradient">]> {
  let cppNamespace = "::hocket::step";
}
def Step_CollectiveKind : I32EnumAttr<"CollectiveKind", "collective", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
    I32EnumAttrCase<"AllGather", 2, "all_gather">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Shift", 4, "shift">]> {
  let cppNamespace = "::hocket::step";
}
// What the vendor's library does with a product while it is in registers. n: columns, m: rows of the result.
//   bias          result = product + extra, extra one number a column
//   gelu          result = gelu(product) (by tanh); second result: the product
//   bias_gelu     before = product + extra, one number a column; result = gelu(before) (by tanh); second result: before
//   gelu_grad     result = product times the derivative of gelu at extra, which is shaped like the result
//   sum_a         second result: the sum of op(a) over its columns, one number a row of the result
//   sum_b         second result: the sum of op(b) over its rows, one number a column of the result
// Each has one rounding, at its end.
def Step_Epilogue : I32EnumAttr<"Epilogue", "epilogue of a product", [
    I32EnumAttrCase<"Bias", 1, "bias">, I32EnumAttrCase<"Gelu", 2, "gelu">, I32EnumAttrCase<"BiasGelu", 3, "bias_gelu">,
    I32EnumAttrCase<"GeluGrad", 4, "gelu_grad">, I32EnumAttrCase<"SumA", 5, "sum_a">, I32EnumAttrCase<"SumB", 6, "sum_b">]> {
  let cppNamespace = "::hocket::step";
}
def Step_RankScalarKind : I32EnumAttr<"RankScalarKind", "number that depends on the rank", [
    I32EnumAttrCase<"Offset", 0, "offset">, I32EnumAttrCase<"Extent", 1, "extent">,
    I32EnumAttrCase<"Number", 2, "number">]> {
  let cppNamespace = "::hocket::step";
}
#endif
