// From a module for NVPTX to one for this host. Each step changes the module; the order is that of Load.cpp.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_TRANSLATE_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_TRANSLATE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"
#include <map>
#include <string>
#include <vector>

namespace hocket::runtime::emulator {

// Instructions that may be at fault, by number, with the text that says where they are: "k.mlir:12" where the bitcode
// has locations, else the instruction itself.
struct Sites {
  std::vector<std::string> texts;
  llvm::DenseMap<const llvm::Instruction *, uint32_t> numbers;
  // The number; past all texts for an instruction that is not listed.
  uint32_t of(const llvm::Instruction *instruction) const {
    auto found = numbers.find(instruction);
    return found == numbers.end() ? ~0u : found->second;
  }
};
Sites collectSites(llvm::Module &module);

// Symbols that the translated module needs, with their addresses.
using Symbols = std::map<std::string, void *>;

// Puts a call of the checker before every access of memory that is not the thread's own, and takes the pointer it
// returns.
void instrument(llvm::Module &module, const Sites &sites, Symbols &symbols);

// Replaces calls of llvm.nvvm.*, __nv_* and inline assembly by calls of the host's functions. Returns what is not
// known.
std::vector<std::string> replaceIntrinsics(llvm::Module &module, const Sites &sites, Symbols &symbols);

// Replaces __nvvm_reflect by what a GPU of sm_80 without flush to zero answers.
void answerReflection(llvm::Module &module);

// Replaces variables in shared memory by places in the running block's, those with a size first; all get their number
// of bytes. Dynamic shared memory begins after them.
uint32_t placeShared(llvm::Module &module, Symbols &symbols);

// Adds `void hocketKernel.NAME(ptr arguments)` for each kernel and makes kernels functions of the host.
void wrapKernels(llvm::Module &module, const std::vector<llvm::Function *> &kernels);

} // namespace hocket::runtime::emulator
#endif
