// How axes are written: "tp", "tp":(1)2, {"pp", "dp"}; shared by attributes and op formats of this dialect.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {
/// Reads one axis or sub-axis; `expected` ends the message when there is none ("a mesh axis in quotes").
mlir::ParseResult parseAxisRef(mlir::AsmParser &parser, AxisRef &ref, llvm::StringRef expected);
/// Reads {"dp", "tp":(1)2}; where `open` is given the last entry may be `?`.
mlir::ParseResult parseAxisSet(mlir::AsmParser &parser, llvm::SmallVectorImpl<AxisRef> &refs, bool *open = nullptr);
void printAxisRef(llvm::raw_ostream &os, const AxisRef &ref);
void printAxisSet(llvm::raw_ostream &os, llvm::ArrayRef<AxisRef> refs, bool open = false);
/// True if two references share devices: the same axis, and not one of them inside the rest that the other leaves.
///   "tp" and "tp":(1)2 yes; "tp":(1)2 and "tp":(2)2 no; "tp":(1)4 and "tp":(2)2 yes; "tp" and "dp" no
bool overlap(const AxisRef &a, const AxisRef &b);
/// Faults of one reference by itself ("tp":(0)2), as text; empty if it is sound.
std::string faultOf(const AxisRef &ref);

/// For op formats: `over "tp"` for one whole axis, `over {"pp", "dp"}` for anything else.
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, AxesAttr &axes);
void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, AxesAttr axes);

/// `<"pp"=2, "tp"=4>`.
mlir::ParseResult parseMeshAxes(mlir::OpAsmParser &parser, mlir::ArrayAttr &axes);
void printMeshAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr axes);

/// `varying(1)`: a local type along one axis.
mlir::ParseResult parseLocalTypeWord(mlir::OpAsmParser &parser, LocalTypeAttr &type);
void printLocalTypeWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, LocalTypeAttr type);
/// `by all_reduce`; nothing for what is free.
mlir::ParseResult parseTransferWord(mlir::OpAsmParser &parser, TransferAttr &by);
void printTransferWord(mlir::OpAsmPrinter &printer, mlir::Operation *op, TransferAttr by);
} // namespace hocket::dist
