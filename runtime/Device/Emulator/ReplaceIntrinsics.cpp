// Device functions become the host's.
#include "runtime/Device/Emulator/Intrinsics.h"
#include "runtime/Device/Emulator/Translate.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include <set>

namespace hocket::runtime::emulator {

using namespace llvm;

namespace {
class Replacement {
public:
  Replacement(Module &module, const Sites &sites, Symbols &symbols) : module(module), sites(sites), symbols(symbols) {}

  void replace(CallInst *call, const std::string &name, const Intrinsic &intrinsic) {
    std::string symbol = "hocket." + name;
    symbols[symbol] = intrinsic.function;
    if (intrinsic.packed)
      return replacePacked(call, symbol, intrinsic);
    FunctionCallee callee = module.getOrInsertFunction(symbol, call->getFunctionType());
    mark(callee, intrinsic);
    call->setCalledFunction(callee);
    call->setAttributes({});
  }

private:
  static void mark(FunctionCallee callee, const Intrinsic &intrinsic) {
    auto *function = cast<Function>(callee.getCallee());
    function->setDoesNotThrow();
    if (!intrinsic.pure)
      function->setConvergent();
    else if (!intrinsic.packed) {
      function->setDoesNotAccessMemory();
      function->setWillReturn();
    }
  }

  // A place on the stack for the whole function.
  static AllocaInst *place(CallInst *call, Type *type) {
    BasicBlock &entry = call->getFunction()->getEntryBlock();
    return IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  }

  void replacePacked(CallInst *call, const std::string &symbol, const Intrinsic &intrinsic) {
    IRBuilder<> builder(call);
    std::vector<Type *> types;
    std::vector<Value *> values;
    for (Value *value : call->args()) {
      Type *type = value->getType();
      if (type->isPointerTy()) { // flat on the host
        type = builder.getPtrTy();
        value = builder.CreateAddrSpaceCast(value, type);
      }
      types.push_back(type);
      values.push_back(value);
    }
    StructType *arguments = StructType::get(module.getContext(), types);
    AllocaInst *given = place(call, arguments);
    for (unsigned i = 0; i < values.size(); ++i)
      builder.CreateStore(values[i], builder.CreateStructGEP(arguments, given, i));
    bool returns = !call->getType()->isVoidTy();
    Value *result =
        returns ? static_cast<Value *>(place(call, call->getType())) : ConstantPointerNull::get(builder.getPtrTy());
    FunctionCallee callee = module.getOrInsertFunction(
        symbol,
        FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy(), builder.getInt32Ty()}, false));
    mark(callee, intrinsic);
    builder.CreateCall(callee, {result, given, builder.getInt32(sites.of(call))});
    if (returns)
      call->replaceAllUsesWith(builder.CreateLoad(call->getType(), result));
    call->eraseFromParent();
  }

  Module &module;
  const Sites &sites;
  Symbols &symbols;
};

// Blanks and line ends become one blank, braces around everything go.
std::string plain(StringRef text) {
  std::string result;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  StringRef trimmed = StringRef(result).trim();
  if (trimmed.consume_front("{") && trimmed.consume_back("}"))
    trimmed = trimmed.trim();
  std::string spaced;
  for (char c : trimmed) { // "$0,$1" and "$0, $1" are one
    if (c == ' ' && !spaced.empty() && spaced.back() == ' ')
      continue;
    spaced += c;
    if (c == ',')
      spaced += ' ';
  }
  return spaced;
}
} // namespace

static std::vector<CallInst *> callsIn(Module &module) {
  std::vector<CallInst *> calls;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        calls.push_back(call);
  return calls;
}

std::vector<std::string> replaceIntrinsics(Module &module, const Sites &sites, Symbols &symbols) {
  std::set<std::string> unknown;
  Replacement replacement(module, sites, symbols);
  for (CallInst *call : callsIn(module)) {
    if (call->isInlineAsm()) {
      std::string text = plain(cast<InlineAsm>(call->getCalledOperand())->getAsmString());
      auto known = assembly().find(text);
      if (known != assembly().end())
        replacement.replace(call, "asm." + text, known->second);
      else if (!text.empty() || !call->getType()->isVoidTy())
        unknown.insert("inline assembly \"" + text + "\"");
      continue;
    }
    Function *callee = call->getCalledFunction();
    if (!callee) {
      unknown.insert("an indirect call");
      continue;
    }
    std::string name = callee->getName().str();
    if (!callee->isDeclaration() || name.starts_with("hocketEmulator"))
      continue;
    bool nvvm = name.starts_with("llvm.nvvm.");
    if (callee->isIntrinsic() && !nvvm)
      continue;
    const IntrinsicTable &table = nvvm ? intrinsics() : deviceFunctions();
    auto known = table.find(name);
    if (known != table.end())
      replacement.replace(call, name, known->second);
    else
      unknown.insert(name);
  }
  return {unknown.begin(), unknown.end()};
}

void answerReflection(Module &module) {
  for (const char *name : {"__nvvm_reflect", "llvm.nvvm.reflect"}) {
    Function *reflect = module.getFunction(name);
    if (!reflect)
      continue;
    for (User *user : make_early_inc_range(reflect->users())) {
      auto *call = cast<CallInst>(user);
      StringRef asked;
      uint64_t answer = 0;
      if (getConstantStringInfo(call->getArgOperand(0)->stripPointerCasts(), asked) && asked == "__CUDA_ARCH")
        answer = 800;
      call->replaceAllUsesWith(ConstantInt::get(call->getType(), answer));
      call->eraseFromParent();
    }
    reflect->eraseFromParent();
  }
}

} // namespace hocket::runtime::emulator
