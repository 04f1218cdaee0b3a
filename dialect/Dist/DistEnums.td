// The enums of the dist dialect: text, parser and flag come from here.
#ifndef HOCKET_DIST_ENUMS_TD
#define HOCKET_DIST_ENUMS_TD
include "mlir/IR/EnumAttr.td"

// How partial values are joined. Text, parser and flag come from here.
def Dist_Reduction : I32EnumAttr<"Reduction", "how partial values are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
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
