// See StepKernel.h.
#include "passes/Codegen/CUDA/StepKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t widest = 16;
constexpr unsigned globalSpace = 1, sharedSpace = 3;
constexpr llvm::StringLiteral dynamicName = "hocket_shared";

/// Buffers that no other buffer of the launch may lie on where one is written: all but the pairs that may share memory,
/// and buckets, which are written in part.
llvm::SmallDenseSet<unsigned> aliasedParameters(func::FuncOp kernel) {
  llvm::SmallDenseSet<unsigned> aliased;
  unsigned inputs = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
  if (auto pairs = kernel->getAttrOfType<DenseI64ArrayAttr>(codegen::inPlaceAttr))
    for (int64_t i = 0; i + 1 < pairs.size(); i += 2)
      aliased.insert(inputs + static_cast<unsigned>(pairs[i])), aliased.insert(static_cast<unsigned>(pairs[i + 1]));
  kernel.walk([&](step::PlaceOp) {
    for (unsigned i = 0; i < inputs + kernel.getNumResults(); ++i)
      aliased.insert(i);
  });
  return aliased;
}

int64_t alignmentOf(RankedTensorType tensor) {
  auto integer = dyn_cast<IntegerType>(tensor.getElementType());
  if (!integer)
    return widest;
  int64_t bytes = tensor.getNumElements() * static_cast<int64_t>(llvm::divideCeil(integer.getWidth(), 8));
  return std::min(widest, bytes & -bytes);
}
} // namespace

int64_t GpuFrame::alignmentOf(Value base, Type element) const {
  if (auto argument = dyn_cast<BlockArgument>(base); argument && argument.getOwner() == entry())
    if (auto known = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "llvm.align"))
      return known.getInt();
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? static_cast<int64_t>(llvm::divideCeil(integer.getWidth(), 8)) : widest;
}

Value GpuFrame::result(Value returned) const {
  func::FuncOp from = kernel;
  auto values = from.getBody().front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(values))
    if (value == returned)
      return allBuffers[allBuffers.size() - values.size() + i];
  return {};
}
Value GpuFrame::scratch(OpBuilder &builder, int64_t offset) const {
  Value bytes = LLVM::ConstantOp::create(builder, loc(), builder.getI64IntegerAttr(offset));
  return LLVM::GEPOp::create(builder, loc(), scratchBase.getType(), builder.getI8Type(), scratchBase,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}
Value GpuFrame::dynamicShared(OpBuilder &builder) const {
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(dynamicName)) {
    OpBuilder globals = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(globals, loc(), LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, dynamicName, Attribute(), /*alignment=*/16, sharedSpace);
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  return LLVM::AddressOfOp::create(builder, loc(), pointer, dynamicName);
}
Value GpuFrame::staticShared(OpBuilder &builder, Type element, int64_t count) const {
  auto module = function->getParentOfType<ModuleOp>();
  Type array = LLVM::LLVMArrayType::get(element, count);
  std::string &name = (*sharedArrays)[{array.getAsOpaquePointer(), takenShared[array]++}];
  if (name.empty()) {
    name = (function.getSymName() + "_shared" + llvm::Twine(module.getBody()->getOperations().size())).str();
    OpBuilder globals = OpBuilder::atBlockBegin(module.getBody());
    // undefined, as shared memory is when a block starts
    auto global = LLVM::GlobalOp::create(globals, loc(), array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                         Attribute(), /*alignment=*/16, sharedSpace);
    Block *initial = globals.createBlock(&global.getInitializerRegion());
    globals.setInsertionPointToEnd(initial);
    LLVM::ReturnOp::create(globals, loc(), LLVM::UndefOp::create(globals, loc(), array).getResult());
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  return LLVM::AddressOfOp::create(builder, loc(), pointer, name);
}

GpuFrame GpuFrame::part(func::FuncOp own, ArrayRef<Value> buffers, ArrayRef<Value> numbersOfPart, Value scratch,
                        const OpBuilder &begin, Value blockX, Value blockY) const {
  GpuFrame made;
  made.function = function, made.kernel = own, made.sharedArrays = sharedArrays;
  made.bind(buffers, numbersOfPart);
  made.scratchBase = scratch, made.partBegin = begin.saveInsertionPoint(), made.partX = blockX, made.partY = blockY;
  return made;
}
void GpuFrame::bind(ArrayRef<Value> buffers, ArrayRef<Value> numbersOfKernel) {
  allBuffers.assign(buffers.begin(), buffers.end());
  allNumbers.assign(numbersOfKernel.begin(), numbersOfKernel.end());
  unsigned nextTensor = 0, nextNumber = 0;
  for (Value argument : kernel.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      tensors[argument] = allBuffers[nextTensor++];
    else
      numbers[argument] = allNumbers[nextNumber++];
  }
}

StepKernel::StepKernel(func::FuncOp kernel, ModuleOp into, int64_t scratchBytes)
    : kernel(kernel), scratchBytes(scratchBytes) {
  OpBuilder builder = OpBuilder::atBlockEnd(into.getBody());
  module = ModuleOp::create(builder, kernel.getLoc(), kernel.getSymName());
}

void StepKernel::add(llvm::function_ref<Launch(GpuFrame &)> body) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  unsigned tensors = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
  unsigned buffers = tensors + kernel.getNumResults(), numbers = kernel.getNumArguments() - tensors;
  SmallVector<Type> types(buffers, pointer);
  types.append(numbers, builder.getI64Type());
  if (scratchBytes)
    types.push_back(pointer);
  std::string symbol = kernel.getSymName().str();
  if (!launches.empty())
    symbol += "__" + std::to_string(launches.size());

  GpuFrame frame;
  frame.kernel = kernel;
  frame.function = LLVM::LLVMFuncOp::create(
      builder, loc, symbol, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types));
  auto aliased = aliasedParameters(kernel);
  SmallVector<int64_t> alignments;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      alignments.push_back(alignmentOf(tensor));
  alignments.resize(types.size(), widest); // the scratch
  for (unsigned i = 0; i < types.size(); ++i)
    if (types[i] == pointer) {
      frame.function.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(alignments[i]));
      if (!aliased.contains(i))
        frame.function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
    }
  Block *entry = frame.function.addEntryBlock(builder);
  SmallVector<Value> parameters(entry->getArguments());
  frame.bind(ArrayRef(parameters).take_front(buffers), ArrayRef(parameters).slice(buffers, numbers));
  if (scratchBytes)
    frame.scratchBase = entry->getArguments().back();

  Launch launch = body(frame);
  launch.symbol = symbol;
  frame.function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  SmallVector<int32_t> block(launch.block.begin(), launch.block.end());
  frame.function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr(block));
  builder.setInsertionPointToEnd(&frame.function.getBody().back());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  launches.push_back(launch);
}

void StepKernel::finish() {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> all;
  for (const Launch &launch : launches)
    all.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("symbol", builder.getStringAttr(launch.symbol)),
        builder.getNamedAttr("grid", builder.getDenseI64ArrayAttr(launch.grid)),
        builder.getNamedAttr("block", builder.getDenseI64ArrayAttr(launch.block)),
        builder.getNamedAttr("shared", builder.getI64IntegerAttr(launch.sharedBytes)),
    }));
  kernel->setAttr(launchesAttr, builder.getArrayAttr(all));
  kernel->setAttr(scratchAttr, builder.getI64IntegerAttr(scratchBytes));
}

SmallVector<Launch> launchesOf(Operation *kernel) {
  SmallVector<Launch> launches;
  auto all = kernel->getAttrOfType<ArrayAttr>(launchesAttr);
  if (!all)
    return launches;
  for (auto each : all.getAsRange<DictionaryAttr>()) {
    Launch &launch = launches.emplace_back();
    launch.symbol = each.getAs<StringAttr>("symbol").str();
    llvm::copy(each.getAs<DenseI64ArrayAttr>("grid").asArrayRef(), launch.grid.begin());
    llvm::copy(each.getAs<DenseI64ArrayAttr>("block").asArrayRef(), launch.block.begin());
    launch.sharedBytes = each.getAs<IntegerAttr>("shared").getInt();
  }
  return launches;
}
int64_t scratchBytesOf(Operation *kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(scratchAttr);
  return bytes ? bytes.getInt() : 0;
}
} // namespace hocket::cuda
