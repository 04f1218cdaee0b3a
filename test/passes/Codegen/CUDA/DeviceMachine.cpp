// A device of the runtime as a machine for kernels (KernelTesting.h): a GPU, or the emulator through the same calls.
// Taken where HOCKET_TEST_DEVICE says `cuda` or `emulator`; tools/gpu-check runs the kernels' tests so.
#include "DeviceMachine.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "runtime/Device/Cuda/CudaDevice.h"
#include "runtime/Device/OpenEmulator.h"
#include <cmath>
#include <map>
using namespace mlir;
using namespace hocket::runtime;

namespace hocket::codegen::testing {
namespace {
class DeviceMachine : public Machine {
public:
  explicit DeviceMachine(std::unique_ptr<Device> made) : device(std::move(made)), stream(*device->stream()) {}

  bool load(ModuleOp kernels, const cuda::Toolkit &toolkit) {
    for (ModuleOp kernel : kernels.getOps<ModuleOp>()) {
      auto bitcode = cuda::translateKernel(kernel, toolkit);
      auto text = bitcode ? codeOf(*bitcode) : std::move(bitcode);
      if (!text) {
        ADD_FAILURE() << llvm::toString(text.takeError());
        return false;
      }
      code[kernel.getSymName()->str()] = std::move(*text);
    }
    return true;
  }

  bool cutsWork() const override { return false; }

  void run(func::FuncOp kernel, ArrayRef<HostBuffer *> buffers, ArrayRef<int64_t> numbers, int) override {
    std::map<HostBuffer *, void *> memory;
    std::vector<void *> pointers;
    for (HostBuffer *buffer : buffers) {
      void *&at = memory[buffer];
      if (!at)
        at = copied(buffer->bytes);
      pointers.push_back(at);
    }
    std::vector<uint8_t> unset(static_cast<size_t>(cuda::scratchBytesOf(kernel)),
                               0xff); // what it holds nobody promises
    void *scratch = unset.empty() ? nullptr : copied(unset);
    for (const cuda::Launch &launch : cuda::launchesOf(kernel)) {
      Launch made;
      auto function = device->kernel(code.at(kernel.getSymName().str()), launch.symbol);
      ASSERT_TRUE(function) << function.error().message;
      made.kernel = *function;
      made.buffers = pointers;
      made.scalars = {numbers.data(), numbers.size()};
      for (size_t i = 0; i < 3; ++i) {
        made.shape.grid[i] = static_cast<uint32_t>(launch.grid[i]);
        made.shape.block[i] = static_cast<uint32_t>(launch.block[i]);
      }
      made.shape.sharedBytes = static_cast<uint32_t>(launch.sharedBytes);
      made.scratch = scratch;
      Status queued = device->launch(*stream, made);
      EXPECT_TRUE(queued) << (queued ? "" : queued.error().message);
    }
    for (auto &[buffer, at] : memory)
      EXPECT_TRUE(device->copy(*stream, buffer->bytes.data(), at, buffer->bytes.size()));
    Status done = device->synchronize(*stream);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    for (auto &[buffer, at] : memory)
      device->free(at);
    if (scratch)
      device->free(scratch);
  }

private:
  // What this device loads.
  llvm::Expected<std::string> codeOf(const std::string &bitcode) const {
    auto *gpu = dynamic_cast<runtime::cuda::CudaDevice *>(device.get());
    if (!gpu)
      return bitcode;
    int architecture = gpu->architecture();
    return cuda::emitPtx(bitcode, architecture >= 100 ? "sm_100" : architecture >= 90 ? "sm_90" : "sm_80");
  }
  void *copied(const std::vector<uint8_t> &bytes) {
    auto made = device->allocate(bytes.size());
    EXPECT_TRUE(made && device->copy(*stream, *made, bytes.data(), bytes.size()));
    EXPECT_TRUE(device->synchronize(*stream));
    return made ? *made : nullptr;
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  std::map<std::string, std::string> code;
};
} // namespace

std::unique_ptr<Machine> compileForDevice(llvm::StringRef name, ModuleOp kernels, const cuda::Toolkit &toolkit) {
  std::unique_ptr<Device> device;
  std::string missing;
  if (name == "cuda") {
    auto gpu = runtime::cuda::CudaDevice::open(0);
    gpu ? static_cast<void>(device = std::move(*gpu)) : static_cast<void>(missing = gpu.error().message);
  } else if (name == "emulator") {
    auto emulator = openEmulatorDevice(0, true);
    emulator ? static_cast<void>(device = std::move(*emulator)) : static_cast<void>(missing = emulator.error().message);
  } else {
    missing = "HOCKET_TEST_DEVICE is '" + name.str() + "'; it is one of cuda, emulator";
  }
  if (!device) {
    ADD_FAILURE() << missing;
    return nullptr;
  }
  auto machine = std::make_unique<DeviceMachine>(std::move(device));
  if (!machine->load(kernels, toolkit))
    return nullptr;
  return machine;
}
} // namespace hocket::codegen::testing
