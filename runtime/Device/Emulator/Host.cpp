// Shared memory and kernel entries on the host.
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Translate.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"

namespace hocket::runtime::emulator {

using namespace llvm;

static void *sharedMemory() { return Block::running().launch().shared; }

static bool isDynamic(const GlobalVariable &variable, const DataLayout &layout) {
  return variable.isDeclaration() || layout.getTypeAllocSize(variable.getValueType()) == 0;
}

static void replaceVariable(GlobalVariable &variable, FunctionCallee base, uint64_t offset) {
  convertUsersOfConstantsToInstructions({&variable});
  SmallVector<Use *> uses;
  for (Use &use : variable.uses())
    uses.push_back(&use);
  for (Use *use : uses) {
    auto *user = cast<Instruction>(use->getUser());
    if (auto *phi = dyn_cast<PHINode>(user))
      user = phi->getIncomingBlock(*use)->getTerminator();
    IRBuilder<> builder(user);
    Value *place = builder.CreateConstGEP1_64(builder.getInt8Ty(), builder.CreateCall(base), offset);
    use->set(builder.CreateAddrSpaceCast(place, variable.getType()));
  }
  variable.eraseFromParent();
}

uint32_t placeShared(Module &module, Symbols &symbols) {
  symbols["hocketEmulatorShared"] = reinterpret_cast<void *>(sharedMemory);
  FunctionCallee base = module.getOrInsertFunction("hocketEmulatorShared",
                                                   FunctionType::get(PointerType::get(module.getContext(), 0), false));
  auto *function = cast<Function>(base.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  const DataLayout &layout = module.getDataLayout();
  std::vector<std::pair<GlobalVariable *, uint64_t>> placed, dynamic;
  uint64_t end = 0;
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != 3)
      continue;
    if (isDynamic(variable, layout)) {
      dynamic.emplace_back(&variable, 0);
      continue;
    }
    end = alignTo(end, std::max<uint64_t>(variable.getAlign().valueOrOne().value(), 16));
    placed.emplace_back(&variable, end);
    end += layout.getTypeAllocSize(variable.getValueType());
  }
  end = alignTo(end, 16);
  for (auto [variable, offset] : placed)
    replaceVariable(*variable, base, offset);
  for (auto [variable, unused] : dynamic)
    replaceVariable(*variable, base, end);
  return static_cast<uint32_t>(end);
}

void wrapKernels(Module &module, const std::vector<Function *> &kernels) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  for (Function *kernel : kernels) {
    kernel->setLinkage(GlobalValue::InternalLinkage);
    kernel->setVisibility(GlobalValue::DefaultVisibility);
    auto *wrapper = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer}, false),
                                     GlobalValue::ExternalLinkage, "hocketKernel." + kernel->getName(), module);
    IRBuilder<> builder(BasicBlock::Create(context, "entry", wrapper));
    std::vector<Value *> arguments;
    unsigned number = 0;
    for (Argument &argument : kernel->args()) {
      Value *at = builder.CreateLoad(pointer, builder.CreateConstGEP1_32(pointer, wrapper->getArg(0), number++));
      arguments.push_back(argument.hasByValAttr() ? builder.CreateAddrSpaceCast(at, argument.getType())
                                                  : builder.CreateLoad(argument.getType(), at));
      argument.removeAttr(Attribute::ByVal);
      argument.removeAttr(Attribute::NoAlias);
    }
    builder.CreateCall(kernel, arguments);
    builder.CreateRetVoid();
  }
}

} // namespace hocket::runtime::emulator
