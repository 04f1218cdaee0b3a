// Blocks and models: how they are written, with the names of their arguments, and what they must hold.
#include "dialect/NN/NN.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;

namespace hocket::nn {

// ---- text -----------------------------------------------------------------------------------------------------------
/// Reads `@name(%a: T, …) -> T {`, keeping the names of the arguments as the attribute `arg_names`.
static ParseResult parseNamedFunction(OpAsmParser &parser, OperationState &state, StringAttr typeName) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types, results;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), state.attributes))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionSignatureWithArguments(parser, /*allowVariadic=*/false, arguments,
                                                                   isVariadic, results, resultAttrs) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SmallVector<StringRef> names;
  for (OpAsmParser::Argument &argument : arguments) {
    if (argument.ssaName.name.empty())
      return parser.emitError(at) << "the arguments of @" << name.getValue() << " need names: %x: tensor<…>";
    types.push_back(argument.type);
    names.push_back(argument.ssaName.name.drop_front());
  }
  Builder &builder = parser.getBuilder();
  state.addAttribute(typeName, TypeAttr::get(builder.getFunctionType(types, results)));
  state.addAttribute("arg_names", builder.getStrArrayAttr(names));
  return parser.parseRegion(*state.addRegion(), arguments);
}

static void printNamedFunction(OpAsmPrinter &printer, FunctionOpInterface function) {
  printer << ' ';
  printer.printSymbolName(function.getName());
  function_interface_impl::printFunctionSignature(printer, function, function.getArgumentTypes(), /*isVariadic=*/false,
                                                  function.getResultTypes());
  printer.printOptionalAttrDictWithKeyword(function->getAttrs(),
                                           {"sym_name", "function_type", "arg_names", "arg_attrs", "res_attrs"});
  printer << ' ';
  printer.printRegion(function->getRegion(0), /*printEntryBlockArgs=*/false);
}

static void nameArguments(std::optional<ArrayAttr> names, Region &region, OpAsmSetValueNameFn set) {
  if (names)
    for (auto [argument, name] : llvm::zip(region.getArguments(), names->getAsValueRange<StringAttr>()))
      set(argument, name);
}

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseNamedFunction(parser, state, getFunctionTypeAttrName(state.name));
}
ParseResult ModelOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseNamedFunction(parser, state, getFunctionTypeAttrName(state.name));
}
void BlockOp::print(OpAsmPrinter &printer) { printNamedFunction(printer, *this); }
void ModelOp::print(OpAsmPrinter &printer) { printNamedFunction(printer, *this); }
void BlockOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameArguments(getArgNames(), region, set);
}
void ModelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameArguments(getArgNames(), region, set);
}

// ---- what both must hold --------------------------------------------------------------------------------------------
/// Of a value that goes in or out: only the first dimension, the batch, may be unknown.
static LogicalResult verifyBoundaryType(Operation *op, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError() << what << " is " << type << ", expected a ranked tensor";
  for (int64_t dim = 1; dim < tensor.getRank(); ++dim)
    if (tensor.isDynamicDim(dim))
      return op->emitOpError() << what << " is " << type << ": only dimension 0, the batch, may be '?'";
  return success();
}

static LogicalResult verifyReturn(FunctionOpInterface function) {
  auto terminator = dyn_cast<ReturnOp>(function.getFunctionBody().front().getTerminator());
  if (!terminator)
    return function.emitOpError() << "must end in nn.return";
  if (terminator.getOperandTypes() == TypeRange(function.getResultTypes()))
    return success();
  InFlightDiagnostic error = terminator.emitOpError() << "returns (" << terminator.getOperandTypes() << "), expected ("
                                                      << function.getResultTypes() << ")";
  error.attachNote(function.getLoc()) << "as @" << function.getName() << " says here";
  return error;
}

/// The name by which an op of a block gives parameters their names, and what the op is. An op that lacks its name is
/// told by its own verifier, which runs later.
static std::pair<StringRef, StringRef> namedThing(Operation &op) {
  if (!isa<ParamOp, CallOp, RepeatOp>(op))
    return {};
  auto name = op.getAttrOfType<StringAttr>("name");
  return {name ? name.getValue() : StringRef(), name ? (isa<ParamOp>(op) ? "parameter" : "call") : ""};
}

static LogicalResult verifyNamesOnce(FunctionOpInterface function) {
  LogicalResult result = success();
  llvm::DenseMap<std::pair<StringRef, StringRef>, Operation *> first;
  for (Operation &op : function.getFunctionBody().front()) {
    auto named = namedThing(op);
    if (named.second.empty())
      continue;
    auto [known, isNew] = first.try_emplace(named, &op);
    if (isNew)
      continue;
    InFlightDiagnostic error = op.emitOpError() << "is a second " << named.second << " named '" << named.first
                                                << "' in @" << function.getName();
    error.attachNote(known->second->getLoc()) << "the first one is here";
    result = error;
  }
  return result;
}

static LogicalResult verifyFunction(FunctionOpInterface function) {
  LogicalResult result = success();
  auto also = [&](LogicalResult next) { result = failure(failed(result) || failed(next)); };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    also(verifyBoundaryType(function, type, "argument " + Twine(i)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    also(verifyBoundaryType(function, type, "result " + Twine(i)));
  also(verifyReturn(function));
  also(verifyNamesOnce(function));
  return result;
}

LogicalResult BlockOp::verify() { return verifyFunction(*this); }

static bool isTokenTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 && !tensor.isDynamicDim(1) && tensor.getElementType().isInteger(32);
}

LogicalResult ModelOp::verify() {
  LogicalResult result = verifyFunction(*this);
  ArrayRef<Type> types = getArgumentTypes();
  if (types.size() != 2 && types.size() != 3)
    result = emitOpError() << "has " << types.size()
                           << " arguments, expected two or three: tokens, labels and perhaps documents";
  else if (!isTokenTensor(types[0]))
    result = emitOpError() << "takes tokens as " << types[0] << ", expected tensor<?x(sequence)xi32>";
  else
    for (auto [type, name] : llvm::zip(types.drop_front(), ArrayRef<StringRef>{"labels", "documents"}))
      if (type != types[0])
        result = emitOpError() << "takes " << name << " as " << type << ", expected " << types[0] << " like the tokens";
  Builder builder(getContext());
  Type loss = RankedTensorType::get({}, builder.getF32Type()), count = RankedTensorType::get({}, builder.getI64Type());
  if (getResultTypes() != ArrayRef<Type>{loss, count})
    result = emitOpError() << "returns (" << getResultTypes() << "), expected (" << loss << ", " << count
                           << "): the loss sum and the count of tokens";
  return result;
}
} // namespace hocket::nn
