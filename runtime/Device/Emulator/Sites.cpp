// Texts for reports, taken before anything is changed.
#include "runtime/Device/Emulator/Translate.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"

namespace hocket::runtime::emulator {

using namespace llvm;

static bool mayFail(const Instruction &instruction) {
  if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, MemIntrinsic>(instruction))
    return true;
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("llvm.nvvm.");
}

// "`store float %x, ptr addrspace(1) %p, align 4`": without metadata, at most 120 characters
static std::string quoted(const Instruction &instruction, ModuleSlotTracker &slots) {
  std::string text;
  raw_string_ostream stream(text);
  instruction.print(stream, slots);
  StringRef trimmed = StringRef(text).trim();
  trimmed = trimmed.take_until([](char c) { return c == '!' || c == '\n'; }).rtrim(", ");
  size_t attributes = trimmed.rfind(" #");
  if (attributes != StringRef::npos)
    trimmed = trimmed.take_front(attributes);
  if (trimmed.size() > 120)
    return "`" + trimmed.take_front(117).str() + "...`";
  return "`" + trimmed.str() + "`";
}

Sites collectSites(Module &module) {
  Sites sites;
  ModuleSlotTracker slots(&module);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    slots.incorporateFunction(function);
    for (Instruction &instruction : instructions(function)) {
      if (!mayFail(instruction))
        continue;
      sites.numbers[&instruction] = static_cast<uint32_t>(sites.texts.size());
      if (const DebugLoc &place = instruction.getDebugLoc())
        sites.texts.push_back((place->getFilename() + ":" + Twine(place.getLine())).str());
      else
        sites.texts.push_back(quoted(instruction, slots));
    }
  }
  return sites;
}

} // namespace hocket::runtime::emulator
