// Bitcode to machine code of this host.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_LOAD_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_LOAD_H

#include "runtime/Device/Emulator/Emulator.h"
#include <map>

namespace hocket::runtime::emulator {

using KernelEntry = void (*)(const void *const *arguments);

class LoadedModule : public KernelModule {
public:
  const std::vector<Kernel> &kernels() const override { return known; }
  uint32_t staticSharedBytes() const override { return staticBytes; }

  std::vector<Kernel> known;
  std::vector<KernelEntry> entries; // of each
  std::vector<std::string> sites;
  uint32_t staticBytes = 0;
  std::shared_ptr<void> code; // keeps it alive
};

Result<std::unique_ptr<LoadedModule>> loadModule(std::string_view bitcode, const Options &options);

} // namespace hocket::runtime::emulator
#endif
