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
#endif
