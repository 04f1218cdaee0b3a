// See Outline.h.
#include "passes/Codegen/Fusion/Outline.h"
#include "passes/Codegen/Fusion/InPlace.h"
#include "passes/Codegen/Fusion/KernelShape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
Interface::Interface(ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !inside.contains(operand.getDefiningOp()))
        (isa<RankedTensorType>(operand.getType()) ? tensors : numbers).insert(operand);
    bool all = isa<AttentionOp, AttentionGradOp>(op); // their emitters write every result
    for (Value result : op->getResults())
      if (all || llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }
}

OwningOpRef<func::FuncOp> makeKernel(ArrayRef<Operation *> ops, const Interface &interface) {
  Builder types(ops.front()->getContext());
  SmallVector<Value> inputs(interface.tensors.begin(), interface.tensors.end());
  inputs.append(interface.numbers.begin(), interface.numbers.end());
  auto type = types.getFunctionType(TypeRange(ValueRange(inputs)), TypeRange(ValueRange(interface.results)));
  Location loc = ops.front()->getLoc();
  OwningOpRef<func::FuncOp> kernel = func::FuncOp::create(loc, "k", type);
  kernel->setPrivate();
  Block *body = kernel->addEntryBlock();
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  for (Operation *op : ops) {
    Operation *clone = builder.clone(*op, mapping);
    for (StringRef placement : {"path", "phase", "shardings"}) // where it came from is the launch's to say
      clone->removeAttr(placement);
  }
  SmallVector<Value> returned;
  for (Value result : interface.results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, returned);
  if (SmallVector<int64_t> pairs = placesInside(*kernel); !pairs.empty())
    (*kernel)->setAttr(inPlaceAttr, types.getDenseI64ArrayAttr(pairs));
  return kernel;
}

std::string textOf(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

static std::string wordFor(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOp>(op);
      elementwise && elementwise.getName() && !elementwise.getName()->empty())
    return elementwise.getName()->str();
  return op->getName().stripDialect().str();
}

std::string wordsFor(ArrayRef<Operation *> ops) {
  std::string name;
  StringRef before;
  int words = 0;
  SmallVector<std::string> all;
  for (Operation *op : ops)
    all.push_back(wordFor(op));
  for (const std::string &word : all) {
    if (word == before || words == 4)
      continue;
    name += (name.empty() ? "" : "_") + word;
    before = word;
    ++words;
  }
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name;
}

namespace {
/// k_add_layer_norm_256x768: the ops (four at most), then rows x columns.
std::string nameOf(ArrayRef<Operation *> ops) {
  std::string name = "k_" + wordsFor(ops);
  if (std::optional<KernelShape> shape = kernelShape(ops))
    return name + "_" + std::to_string(shape->rows) + "x" + std::to_string(shape->columns);
  char separator = '_';
  for (int64_t size : cast<RankedTensorType>(ops.front()->getResult(0).getType()).getShape()) {
    name += separator + std::to_string(size);
    separator = 'x';
  }
  return name;
}

/// The op that a launch stands for: the one with most work.
Operation *mainOp(ArrayRef<Operation *> ops) {
  auto work = [](Operation *op) {
    auto known = dyn_cast<ReferenceOpInterface>(op);
    return known ? known.getFlops() : 0;
  };
  return *std::max_element(ops.begin(), ops.end(), [&](Operation *a, Operation *b) { return work(a) < work(b); });
}
} // namespace

/// Masking changes no shape.
Attribute shardingOf(Value value) {
  if (auto mask = value.getDefiningOp<step::MaskOp>())
    return shardingOf(mask.getX());
  if (auto load = value.getDefiningOp<step::LoadOp>())
    return load.getBuffer().getDefiningOp<step::BufferOp>().getShardAttr();
  auto result = dyn_cast<OpResult>(value);
  return result ? getSharding(result) : Attribute();
}

KernelLibrary::KernelLibrary(ModuleOp module) : module(module), symbols(module) {
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!kernel.isPrivate() || kernel.isExternal())
      continue;
    std::string name = kernel.getSymName().str();
    kernel.setSymName("k");
    known[textOf(kernel)] = kernel;
    kernel.setSymName(name);
  }
}

func::FuncOp KernelLibrary::findOrInsert(OwningOpRef<func::FuncOp> made, StringRef name) {
  std::string text = textOf(*made);
  func::FuncOp &kernel = known[text];
  if (kernel)
    return kernel;
  uint64_t hash = llvm::xxh3_64bits(text);
  for (unsigned digits = 4; digits <= 16; ++digits) {
    std::string full = (name + "_").str() + llvm::utohexstr(hash >> (64 - 4 * digits), /*LowerCase=*/true, digits);
    if (symbols.lookup(full))
      continue;
    made->setSymName(full);
    break;
  }
  kernel = made.release();
  symbols.insert(kernel);
  return kernel;
}

void KernelLibrary::launch(OpBuilder &builder, ArrayRef<Operation *> ops) {
  Interface interface(ops);
  func::FuncOp kernel = findOrInsert(makeKernel(ops, interface), nameOf(ops));
  Operation *main = mainOp(ops);
  auto launch = step::LaunchOp::create(
      builder, main->getLoc(), TypeRange(ValueRange(interface.results)), FlatSymbolRefAttr::get(kernel),
      interface.tensors.getArrayRef(), interface.numbers.getArrayRef(), ValueRange(),
      main->getAttrOfType<StringAttr>("path"), main->getAttrOfType<PhaseAttr>("phase"), ArrayAttr());
  setShardings(launch, llvm::map_to_vector(interface.results, shardingOf));
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  for (auto [old, made] : llvm::zip(interface.results, launch.getResults()))
    old.replaceUsesWithIf(made, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
}
} // namespace hocket::codegen
