// The enums of the dist dialect: text, parser and flag come from here.
#ifndef HOCKET_DIST_ENUMS_TD
#define HOCKET_DIST_ENUMS_TD
include "mlir/IR/EnumAttr.td"

// How partial values are joined. Text, parser and flag come from here.
def Dist_Reduction : I32EnumAttr<"Reduction", "how partial values are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::hocket::dist";
}
// How attention sees all keys of a sequence that is split over ranks.
def Dist_ContextKind : I32EnumAttr<"ContextKind", "how attention sees keys that other ranks hold", [
    I32EnumAttrCase<"Ring", 0, "ring">, I32EnumAttrCase<"AllGather", 1, "all_gather">, I32EnumAttrCase<"AllToAll", 2, "all_to_all">]> {
  let cppNamespace = "::hocket::dist";
}
// What a value of a manual region is along one axis.
def Dist_LocalKind : I32EnumAttr<"LocalKind", "what a value is along an axis of a manual region", [
    I32EnumAttrCase<"Replicated", 0, "replicated">, I32EnumAttrCase<"Invariant", 1, "invariant">,
    I32EnumAttrCase<"Varying", 2, "varying">, I32EnumAttrCase<"Partial", 3, "partial">]> {
  let cppNamespace = "::hocket::dist";
}
// How one local type becomes another.
def Dist_Transfer : I32EnumAttr<"Transfer", "how a local type becomes another", [
    I32EnumAttrCase<"Free", 0, "free">, I32EnumAttrCase<"AllReduce", 1, "all_reduce">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllGather", 3, "all_gather">,
    I32EnumAttrCase<"AllToAll", 4, "all_to_all">, I32EnumAttrCase<"Slice", 5, "slice">]> {
  let cppNamespace = "::hocket::dist";
}
// What is kept of a layer from forward to backward.
def Dist_Recompute : I32EnumAttr<"Recompute", "what is made again for backward", [
    I32EnumAttrCase<"Full", 0, "full">,           // all but what the layer is given
    I32EnumAttrCase<"Selective", 1, "selective">, // what costs few operations for its bytes, and no collective
    I32EnumAttrCase<"Auto", 2, "auto">]> {        // the fewest operations with which the plan fits into the memory given
  let cppNamespace = "::hocket::dist";
}
// What lies in the host's memory while the device does not need it.
def Dist_Offload : I32EnumAttr<"Offload", "what lies in the host's memory", [
    I32EnumAttrCase<"Activations", 0, "activations">, I32EnumAttrCase<"OptimizerState", 1, "optimizer_state">,
    I32EnumAttrCase<"Parameters", 2, "parameters">]> {
  let cppNamespace = "::hocket::dist";
}
// Which collectives have a stream of their own.
def Dist_Overlap : I32EnumAttr<"Overlap", "which collectives have a stream of their own", [
    I32EnumAttrCase<"Gradients", 0, "gradients">,     // of accumulators and gradients of parameters, beside backward
    I32EnumAttrCase<"Parameters", 1, "parameters">,   // of parameters, ahead of their use
    I32EnumAttrCase<"Activations", 2, "activations">]> { // of activations and their gradients, beside independent work
  let cppNamespace = "::hocket::dist";
}
// When a parameter that ZeRO-3 splits at rest is gathered.
def Dist_Gather : I32EnumAttr<"Gather", "when a parameter that is split at rest is gathered", [
    I32EnumAttrCase<"PerUse", 0, "per_use">,  // for its forward, and again for its backward
    I32EnumAttrCase<"Kept", 1, "kept">,       // for its forward, and kept until its backward
    I32EnumAttrCase<"Once", 2, "once">,       // in `begin`, for all microbatches
    I32EnumAttrCase<"OncePartial", 3, "once_partial">]> { // as `once`, and accumulators wait for `update` as sums
  let cppNamespace = "::hocket::dist";
}
#endif
