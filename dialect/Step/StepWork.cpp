// Verifiers and names of what stands in bodies: loads and stores, work, data movement.
#include "dialect/Step/StepWork.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

// ---- names ---------------------------------------------------------------------------------------------------------
/// "k_add_layer_norm_256x768_1a2b" is "add_layer_norm": what the kernel does, without its size and mark.
static std::string kernelWords(StringRef kernel) {
  kernel.consume_front("k_");
  SmallVector<StringRef> words, kept;
  kernel.split(words, '_');
  for (StringRef word : words) {
    auto [rows, columns] = word.split('x');
    if (!kept.empty() && !rows.empty() && llvm::all_of(rows, llvm::isDigit) && llvm::all_of(columns, llvm::isAlnum))
      break;
    kept.push_back(word);
  }
  return llvm::join(kept, "_");
}

std::string hocket::step::workText(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return kernelWords(launch.getKernel());
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return stringifyCollectiveKind(collective.getKind()).str();
  if (auto gemm = dyn_cast<GemmOp>(op); gemm && gemm.getEpilogue())
    return "gemm_" + stringifyEpilogue(*gemm.getEpilogue()).str();
  return op->getName().stripDialect().str();
}

void hocket::step::nameWork(Operation *op, OpAsmSetValueNameFn set) {
  std::string name;
  SmallVector<StringRef> parts;
  nn::getPath(op).split(parts, '.', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    name += (name.empty() || llvm::all_of(part, llvm::isDigit) ? "" : "_") + part.str();
  if (op->getAttr("kernel") || !isa<LaunchOp>(op)) // a faulty op is asked too
    name += (name.empty() ? "" : "_") + (isa<CollectiveOp>(op) && !op->getAttr("kind") ? "collective" : workText(op));
  for (char &c : name)
    c = llvm::isAlnum(c) ? c : '_';
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    set(result, op->getNumResults() == 1 ? name : name + "_" + std::to_string(i));
}

void LoadOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (auto buffer = getBuffer().getDefiningOp<BufferOp>())
    setName(getValue(), (buffer.getName() + ".value").str());
}

ParseResult hocket::step::parseTypeList(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}
void hocket::step::printTypeList(OpAsmPrinter &printer, Operation *, TypeRange types) {
  printer << '(';
  llvm::interleaveComma(types, printer);
  printer << ')';
}

// ---- loads and stores ----------------------------------------------------------------------------------------------
static LogicalResult sameShape(Operation *op, Type buffer, RankedTensorType value) {
  auto memref = cast<MemRefType>(buffer);
  if (memref.getShape() != value.getShape() || memref.getElementType() != value.getElementType())
    return op->emitOpError() << "value of type " << value << ", the buffer holds " << buffer;
  return success();
}
LogicalResult LoadOp::verify() { return sameShape(*this, getBuffer().getType(), getValue().getType()); }
LogicalResult StoreOp::verify() { return sameShape(*this, getBuffer().getType(), getValue().getType()); }

// ---- work ----------------------------------------------------------------------------------------------------------
LogicalResult hocket::step::verifyForm(Operation *op, ValueRange inputs, ValueRange outs) {
  if (outs.empty() != (op->getNumResults() > 0))
    return op->emitOpError() << "has " << op->getNumResults() << " results and writes " << outs.size()
                             << " buffers; it must do one of both";
  for (Value input : inputs)
    if (isa<MemRefType>(input.getType()) != !outs.empty())
      return op->emitOpError() << (outs.empty() ? "reads a buffer and makes tensors"
                                                : "reads a tensor and writes buffers");
  for (Value input : inputs)
    if (!isa<MemRefType, RankedTensorType>(input.getType()))
      return op->emitOpError() << "reads " << input.getType() << ", expected a tensor or a buffer";
  return success();
}

LogicalResult LaunchOp::verify() { return verifyForm(*this, getInputs(), getOuts()); }

/// The one result, as a tensor or as a buffer; none (and an error) if there are several.
static ShapedType onlyResult(Operation *op, ValueRange outs) {
  if (op->getNumResults() + outs.size() == 1)
    return cast<ShapedType>(outs.empty() ? op->getResult(0).getType() : outs.front().getType());
  op->emitOpError() << "makes " << op->getNumResults() + outs.size() << " values, expected 1";
  return {};
}

/// A stream of a body beside the one that computes.
static LogicalResult verifyStream(Operation *op, std::optional<StringRef> stream) {
  if (stream && (stream->empty() || *stream == "compute"))
    return op->emitOpError() << "is on stream \"" << *stream
                             << "\", expected the name of a stream that does not compute";
  return success();
}

LogicalResult CollectiveOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "names no mesh axis";
  if (failed(verifyStream(*this, getStream())))
    return failure();
  ShapedType result = onlyResult(*this, getOuts());
  if (!result || failed(verifyForm(*this, getInput(), getOuts())))
    return failure();
  auto input = cast<ShapedType>(getInput().getType());
  int64_t in = input.getNumElements(), out = result.getNumElements();
  bool fits = false;
  switch (getKind()) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllToAll:
  case CollectiveKind::Shift:
    fits = in == out;
    break;
  case CollectiveKind::ReduceScatter:
    fits = out > 0 && in % out == 0;
    break;
  case CollectiveKind::AllGather:
    fits = in > 0 && out % in == 0;
    break;
  }
  if (!fits || input.getElementType() != result.getElementType())
    return emitOpError() << stringifyCollectiveKind(getKind()) << " makes " << result << " of " << input;
  return success();
}

LogicalResult TransferOp::verify() {
  ShapedType result = onlyResult(*this, getOuts());
  if (!result || failed(verifyForm(*this, getInput(), getOuts())))
    return failure();
  if (getInput().getType() != result)
    return emitOpError() << "makes " << result << " of " << getInput().getType() << ", expected the same type";
  return verifyStream(*this, getStream());
}

LogicalResult AwaitOp::verify() {
  if (int64_t count = getCountAttr().getInt(); count < 1)
    return emitOpError() << "waits for " << count << " ops, expected at least 1";
  return verifyStream(*this, getStream());
}

// ---- data movement -------------------------------------------------------------------------------------------------
LogicalResult RankScalarOp::verify() {
  if (getKind() == RankScalarKind::Number) {
    if (!getAxes().empty())
      return emitOpError() << "is a number over mesh axes; a number is the same on every rank, over {}";
    if (int64_t number = static_cast<int64_t>(getSize()); number < 0 || number > UINT32_MAX)
      return emitOpError() << "is the number " << number << ", expected 0 to " << UINT32_MAX;
    return success();
  }
  if (getAxes().empty())
    return emitOpError() << "names no mesh axis";
  if (static_cast<int64_t>(getSize()) < 1)
    return emitOpError() << "is of a dimension of " << static_cast<int64_t>(getSize())
                         << " elements, expected at least 1";
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim < 0 || dim >= rank)
    return op->emitOpError() << "dim is " << dim << ", expected 0 to " << rank - 1 << " (" << rank << " dimensions)";
  return success();
}
static LogicalResult expectType(Operation *op, Value y, ArrayRef<int64_t> shape, Value x) {
  auto expected = RankedTensorType::get(shape, cast<RankedTensorType>(x.getType()).getElementType());
  if (y.getType() != expected)
    return op->emitOpError() << "result is " << y.getType() << ", expected " << expected;
  return success();
}

LogicalResult PackOp::verify() {
  SmallVector<int64_t> shape(getX().getType().getShape());
  int64_t dim = getDim(), pieces = getPieces();
  if (failed(verifyDim(*this, dim, shape.size())))
    return failure();
  if (pieces < 1)
    return emitOpError() << "makes " << pieces << " pieces, expected at least 1";
  shape[dim] = llvm::divideCeil(shape[dim], pieces);
  shape.insert(shape.begin(), pieces);
  return expectType(*this, getY(), shape, getX());
}

LogicalResult UnpackOp::verify() {
  SmallVector<int64_t> shape(getX().getType().getShape());
  if (shape.empty())
    return emitOpError() << "has no dimension of pieces";
  int64_t dim = getDim(), pieces = shape.front();
  shape.erase(shape.begin());
  if (failed(verifyDim(*this, dim, shape.size())))
    return failure();
  int64_t whole = getY().getType().getRank() > dim ? getY().getType().getDimSize(dim) : 0;
  if (whole > pieces * shape[dim])
    return emitOpError() << "makes " << whole << " elements of " << pieces << " pieces of " << shape[dim];
  shape[dim] = whole;
  return expectType(*this, getY(), shape, getX());
}

/// `inside`, of [pieces, k], lies in elements first … of each piece of `bucket`, of [pieces, elements].
static LogicalResult verifyInBucket(Operation *op, RankedTensorType bucket, RankedTensorType inside, int64_t pieces,
                                    int64_t first) {
  if (bucket.getElementType() != inside.getElementType())
    return op->emitOpError() << "has " << inside.getElementType() << " in a bucket of " << bucket.getElementType();
  if (pieces < 1 || bucket.getNumElements() % pieces || inside.getNumElements() % pieces)
    return op->emitOpError() << "has " << pieces << " pieces; " << bucket.getNumElements()
                             << " elements of the bucket and " << inside.getNumElements()
                             << " in it must both be a multiple";
  int64_t piece = bucket.getNumElements() / pieces, end = first + inside.getNumElements() / pieces;
  if (first < 0 || end > piece)
    return op->emitOpError() << "takes elements " << first << " to " << end << " of pieces of " << piece;
  return success();
}

LogicalResult PlaceOp::verify() {
  if (getBucket() && getBucket().getType() != getY().getType())
    return emitOpError() << "makes " << getY().getType() << " of a bucket " << getBucket().getType();
  return verifyInBucket(*this, getY().getType(), getX().getType(), getPieces(), getFirst());
}
LogicalResult PartOp::verify() {
  return verifyInBucket(*this, getBucket().getType(), getY().getType(), getPieces(), getFirst());
}

LogicalResult SliceOp::verify() {
  SmallVector<int64_t> shape(getX().getType().getShape());
  int64_t dim = getDim();
  if (failed(verifyDim(*this, dim, shape.size())))
    return failure();
  shape[dim] = getY().getType().getRank() > dim ? getY().getType().getDimSize(dim) : 0;
  return expectType(*this, getY(), shape, getX());
}

LogicalResult MaskOp::verify() {
  if (failed(verifyDim(*this, getDim(), getX().getType().getRank())))
    return failure();
  return expectType(*this, getY(), getX().getType().getShape(), getX());
}
