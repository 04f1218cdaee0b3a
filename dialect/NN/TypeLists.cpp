// The types behind the colon of calls and of ops whose types mostly follow from the first one.
#include "dialect/NN/Assembly.h"
using namespace mlir;

namespace hocket::nn {

static ParseResult readTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  if (succeeded(parser.parseOptionalLParen())) {
    if (succeeded(parser.parseOptionalRParen()))
      return success();
    return failure(parser.parseTypeList(types) || parser.parseRParen());
  }
  return parser.parseTypeList(types);
}
static void writeTypes(OpAsmPrinter &printer, TypeRange types) {
  if (types.empty())
    printer << "()";
  llvm::interleaveComma(types, printer);
}

// ---- calls ----------------------------------------------------------------------------------------------------------
ParseResult parseCallTypes(OpAsmParser &parser, SmallVectorImpl<Type> &args, SmallVectorImpl<Type> &results) {
  if (readTypes(parser, args))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return readTypes(parser, results);
  results.assign(args.begin(), args.end());
  return success();
}
void printCallTypes(OpAsmPrinter &printer, Operation *, TypeRange args, TypeRange results) {
  writeTypes(printer, args);
  if (args == results)
    return;
  printer << " -> ";
  writeTypes(printer, results);
}

// ---- ops whose types mostly follow from the first -------------------------------------------------------------------
/// Reads `A, B -> C`. Operands: all or only the first `fewest`; results: all or none. Missing ones stay null.
static ParseResult readSome(OpAsmParser &parser, size_t fewest, ArrayRef<Type *> operands, ArrayRef<Type *> results) {
  SMLoc at = parser.getCurrentLocation();
  SmallVector<Type> read;
  if (parser.parseTypeList(read))
    return failure();
  if (read.size() != operands.size() && read.size() != fewest) {
    InFlightDiagnostic error = parser.emitError(at) << "has types for " << read.size() << " operands, expected ";
    if (fewest != operands.size())
      error << fewest << " or ";
    return error << operands.size();
  }
  for (auto [type, place] : llvm::zip(read, operands))
    *place = type;
  if (failed(parser.parseOptionalArrow()))
    return success();
  read.clear();
  at = parser.getCurrentLocation();
  if (parser.parseTypeList(read))
    return failure();
  if (read.size() > results.size())
    return parser.emitError(at) << "has types for " << read.size() << " results, expected " << results.size();
  for (auto [type, place] : llvm::zip(read, results))
    *place = type;
  return success();
}

static void writeAll(OpAsmPrinter &printer, ArrayRef<Type> operands, ArrayRef<Type> results) {
  llvm::interleaveComma(operands, printer);
  printer << " -> ";
  llvm::interleaveComma(results, printer);
}

/// The row that a norm scales: the last dimension of `x`.
static ParseResult lastDimension(OpAsmParser &parser, SMLoc at, Type x, Type &row) {
  auto tensor = dyn_cast<RankedTensorType>(x);
  if (!tensor || tensor.getRank() == 0)
    return parser.emitError(at) << "normalises the last dimension, which " << x << " has not";
  row = RankedTensorType::get(tensor.getShape().take_back(1), tensor.getElementType());
  return success();
}

ParseResult parseNormTypes(OpAsmParser &parser, Type &x, Type &gain, Type &bias, Type &y) {
  SMLoc at = parser.getCurrentLocation();
  if (readSome(parser, 1, {&x, &gain, &bias}, {&y}) || (!gain && lastDimension(parser, at, x, gain)))
    return failure();
  bias = bias ? bias : gain;
  y = y ? y : x;
  return success();
}
void printNormTypes(OpAsmPrinter &printer, Operation *, Type x, Type gain, Type bias, Type y) {
  writeAll(printer, {x, gain, bias}, {y});
}

ParseResult parseRmsNormTypes(OpAsmParser &parser, Type &x, Type &gain, Type &y) {
  SMLoc at = parser.getCurrentLocation();
  if (readSome(parser, 1, {&x, &gain}, {&y}) || (!gain && lastDimension(parser, at, x, gain)))
    return failure();
  y = y ? y : x;
  return success();
}
void printRmsNormTypes(OpAsmPrinter &printer, Operation *, Type x, Type gain, Type y) {
  writeAll(printer, {x, gain}, {y});
}

ParseResult parseUnaryTypes(OpAsmParser &parser, Type &x, Type &y) {
  if (readSome(parser, 1, {&x}, {&y}))
    return failure();
  y = y ? y : x;
  return success();
}
void printUnaryTypes(OpAsmPrinter &printer, Operation *, Type x, Type y) { writeAll(printer, {x}, {y}); }

ParseResult parseBinaryTypes(OpAsmParser &parser, Type &a, Type &b, Type &y) {
  if (readSome(parser, 1, {&a, &b}, {&y}))
    return failure();
  b = b ? b : a;
  y = y ? y : a;
  return success();
}
void printBinaryTypes(OpAsmPrinter &printer, Operation *, Type a, Type b, Type y) { writeAll(printer, {a, b}, {y}); }

ParseResult parseLossTypes(OpAsmParser &parser, Type &logits, Type &labels, Type &sum, Type &count, Type &lse) {
  SMLoc at = parser.getCurrentLocation();
  if (readSome(parser, 2, {&logits, &labels}, {&sum, &count, &lse}))
    return failure();
  if (sum && !count)
    return parser.emitError(at) << "has types for 1 results, expected 2 or 3: the loss sum, the count and the "
                                   "log-sum-exp";
  Builder &builder = parser.getBuilder();
  sum = sum ? sum : RankedTensorType::get({}, builder.getF32Type());
  count = count ? count : RankedTensorType::get({}, builder.getI64Type());
  return success();
}
void printLossTypes(OpAsmPrinter &printer, Operation *, Type logits, Type labels, Type sum, Type count, Type lse) {
  writeAll(printer, {logits, labels}, {sum, count});
  if (lse)
    printer << ", " << lse;
}
} // namespace hocket::nn
