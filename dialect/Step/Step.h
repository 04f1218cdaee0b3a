// The step dialect: when each thing happens. Ops are declared in Step.td.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "dialect/Step/Row.h"
#include "llvm/ADT/Hashing.h"

namespace hocket::step {
llvm::hash_code hash_value(const Row &row);
llvm::hash_code hash_value(const Message &message);
/// "activation from 0 to 1"; of chunks other than the first "activation from 0 chunk 1 to 0 chunk 2": how rows and
/// reports name a message.
std::string messageText(const Message &message);
/// Bytes of a buffer's own elements. Element types are stored in whole bytes.
int64_t byteSize(mlir::ShapedType type);
} // namespace hocket::step

#include "dialect/Step/StepDialect.h.inc"
#include "dialect/Step/StepEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Step/StepAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Step/StepOps.h.inc"

namespace hocket::step {
/// Begin, update and evaluate run once a step and belong to no microbatch and no slot.
bool runsOnce(BodyKind kind);
/// The layer of a path: up to its first component that is a number after another component; "" outside of layers.
///   h.3.attn.qkv -> h.3;  h.3 -> h.3;  wte -> "";  ln_f -> ""
llvm::StringRef layerOf(llvm::StringRef path);
/// Parts of a stage in words; a run of layers is one range: "wte, wpe, h.0 to h.2".
std::string partsText(mlir::ArrayAttr parts);
/// What an op of a body does, in a few words: the kernel's ops, "gemm", "all_reduce".
std::string workText(mlir::Operation *op);
/// What a buffer's name adds to its slot's name, so that the slots of one parameter have different buffers:
///   param -> "";  first_moment -> ".m";  second_moment -> ".v";  master -> ".master";  accumulator -> ".acc";
///   state -> ".state" (an output may have the same name);  value -> "" for numbers, ".compute" for copies of parameters
llvm::StringRef slotSuffix(nn::SlotKind kind, int64_t rank);
} // namespace hocket::step
