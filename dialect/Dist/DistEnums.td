// The enums of the dist dialect: text, parser and flag come from here.
#ifndef HOCKET_DIST_ENUMS_TD
#define HOCKET_DIST_ENUMS_TD
include "mlir/IR/EnumAttr.td"

// How partial values are joined. Text, parser and flag come from here.
def Dist_Reduction : I32EnumAttr<"Reduction", "how partial values are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::hocket::dist";
}
#endif
