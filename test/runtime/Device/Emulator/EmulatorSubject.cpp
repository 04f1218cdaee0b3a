// The emulator for the conformance suite of devices.
#include "Conformance/Subject.h"
#include "EmulatorTesting.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"

namespace hocket::test {

std::unique_ptr<Device> makeDevice(uint64_t seed) { return std::make_unique<EmulatorDevice>(seed); }

const void *scaleKernel(Device &device) {
  static const std::string text = kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %factor", R"(
  %from = getelementptr i64, ptr addrspace(1) %a, i32 %block
  %x = load i64, ptr addrspace(1) %from, align 8
  %y = mul i64 %x, %factor
  %to = getelementptr i64, ptr addrspace(1) %b, i32 %block
  store i64 %y, ptr addrspace(1) %to, align 8
  ret void)");
  auto kernel = device.kernel(text, "k");
  return kernel ? *kernel : nullptr;
}

} // namespace hocket::test
