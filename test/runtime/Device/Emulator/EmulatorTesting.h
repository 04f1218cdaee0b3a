// Small kernels as IR text, and memory for them.
#ifndef HOCKET_TEST_RUNTIME_DEVICE_EMULATOR_EMULATORTESTING_H
#define HOCKET_TEST_RUNTIME_DEVICE_EMULATOR_EMULATORTESTING_H

#include "runtime/Device/Emulator/Emulator.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hocket::test {

using namespace runtime;
using namespace runtime::emulator;

// `define ptx_kernel void @k(PARAMETERS) { BODY }` with the declarations that small kernels need, and `%tid`, `%lane`.
std::string kernelText(std::string_view parameters, std::string_view body, std::string_view globals = "");

// The checker on or off.
inline Options checking(bool check) {
  Options options;
  options.check = check;
  return options;
}

// A kernel "k" whose buffers are vectors, known to the emulator as "a", "b", …
class TestKernel {
public:
  explicit TestKernel(std::string text, Options options = {}) : emulator(std::move(options)), text(std::move(text)) {}

  template <class T> void buffer(std::vector<T> &memory) {
    emulator.addRegion(memory.data(), memory.size() * sizeof(T),
                       std::string(1, static_cast<char>('a' + pointers.size())));
    pointers.push_back(memory.data());
  }
  // "" or the whole error.
  std::string run(Extent grid, Extent block, uint32_t sharedBytes = 0) {
    auto module = emulator.load(text);
    if (!module)
      return module.error().message;
    std::vector<const void *> arguments;
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    Status ran = emulator.launch(**module, "k", grid, block, sharedBytes, arguments);
    return ran ? "" : ran.error().message;
  }

  Emulator emulator;

private:
  std::string text;
  std::vector<void *> pointers;
};

} // namespace hocket::test
#endif
