// Calls of the checker.
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Translate.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace hocket::runtime::emulator {

using namespace llvm;

static void *checkAccess(void *pointer, uint64_t bytes, uint32_t align, uint32_t flags, uint32_t site) {
  Block &block = Block::running();
  return block.checks()->access(block, pointer, bytes, align, flags, site);
}

// memcpy and memset: there is no memory to use instead, so a fault ends the launch.
static void checkRange(void *pointer, uint64_t bytes, uint32_t align, uint32_t flags, uint32_t site) {
  Block &block = Block::running();
  if (bytes && block.checks()->access(block, pointer, bytes, align, flags, site) != pointer)
    block.fail(FaultKind::OutOfBounds, "cannot go on", site);
}

// A thread's own memory, the module's constants and kernel parameters.
static bool isPrivate(const Value *pointer) {
  const Value *object = getUnderlyingObject(pointer, 0);
  if (isa<AllocaInst>(object))
    return true;
  if (auto *argument = dyn_cast<Argument>(object))
    return argument->hasByValAttr();
  auto *variable = dyn_cast<GlobalVariable>(object);
  return variable && variable->getAddressSpace() != 3;
}

namespace {
class Instrumentation {
public:
  Instrumentation(Module &module, const Sites &sites)
      : sites(sites), layout(module.getDataLayout()), builder(module.getContext()) {
    Type *pointer = builder.getPtrTy(), *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
    access = module.getOrInsertFunction("hocketEmulatorAccess",
                                        FunctionType::get(pointer, {pointer, i64, i32, i32, i32}, false));
    range = module.getOrInsertFunction("hocketEmulatorRange",
                                       FunctionType::get(builder.getVoidTy(), {pointer, i64, i32, i32, i32}, false));
    for (FunctionCallee callee : {access, range}) {
      auto *function = cast<Function>(callee.getCallee());
      function->setDoesNotThrow();
      function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    }
  }

  void visit(Instruction *instruction) {
    builder.SetInsertPoint(instruction);
    if (auto *load = dyn_cast<LoadInst>(instruction)) {
      guard(instruction, load->getPointerOperandIndex(), load->getType(), load->getAlign(), accessLoad);
      load->setAlignment(Align(1));
    } else if (auto *store = dyn_cast<StoreInst>(instruction)) {
      guard(instruction, store->getPointerOperandIndex(), store->getValueOperand()->getType(), store->getAlign(),
            accessStore);
      store->setAlignment(Align(1));
    } else if (auto *update = dyn_cast<AtomicRMWInst>(instruction)) {
      guard(instruction, 0, update->getType(), update->getAlign(), accessStore | accessAtomic);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(instruction)) {
      guard(instruction, 0, exchange->getNewValOperand()->getType(), exchange->getAlign(), accessStore | accessAtomic);
    } else if (auto *fill = dyn_cast<MemIntrinsic>(instruction)) {
      guardRange(instruction, fill->getRawDest(), fill->getLength(), fill->getDestAlign(), accessStore);
      if (auto *copy = dyn_cast<MemTransferInst>(instruction))
        guardRange(instruction, copy->getRawSource(), copy->getLength(), copy->getSourceAlign(), accessLoad);
    }
  }

private:
  void guard(Instruction *instruction, unsigned operand, Type *type, Align align, uint32_t flags) {
    Value *pointer = instruction->getOperand(operand);
    if (isPrivate(pointer))
      return;
    Value *flat = builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
    Value *checked = builder.CreateCall(access, {flat, builder.getInt64(layout.getTypeStoreSize(type)),
                                                 builder.getInt32(static_cast<uint32_t>(align.value())),
                                                 builder.getInt32(flags), builder.getInt32(sites.of(instruction))});
    instruction->setOperand(operand, builder.CreateAddrSpaceCast(checked, pointer->getType()));
  }

  void guardRange(Instruction *instruction, Value *pointer, Value *length, MaybeAlign align, uint32_t flags) {
    if (isPrivate(pointer))
      return;
    builder.CreateCall(range, {builder.CreateAddrSpaceCast(pointer, builder.getPtrTy()),
                               builder.CreateZExt(length, builder.getInt64Ty()),
                               builder.getInt32(static_cast<uint32_t>(align.valueOrOne().value())),
                               builder.getInt32(flags), builder.getInt32(sites.of(instruction))});
  }

  const Sites &sites;
  const DataLayout &layout;
  IRBuilder<> builder;
  FunctionCallee access, range;
};
} // namespace

void instrument(Module &module, const Sites &sites, Symbols &symbols) {
  symbols["hocketEmulatorAccess"] = reinterpret_cast<void *>(checkAccess);
  symbols["hocketEmulatorRange"] = reinterpret_cast<void *>(checkRange);
  Instrumentation instrumentation(module, sites);
  for (Function &function : module) {
    std::vector<Instruction *> accesses;
    for (Instruction &instruction : instructions(function))
      if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, MemIntrinsic>(instruction))
        accesses.push_back(&instruction);
    for (Instruction *instruction : accesses)
      instrumentation.visit(instruction);
  }
}

} // namespace hocket::runtime::emulator
