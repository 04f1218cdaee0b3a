// A GPU's emulator as a machine for kernels (KernelTesting.h): it runs the bitcode that becomes PTX, and its checker
// reports races, accesses outside of the buffers, misaligned ones and barriers that not all threads reach. Where
// HOCKET_TEST_DEVICE names a device of the runtime, that runs them (DeviceMachine.cpp); where HOCKET_TEST_RECORD names
// a folder, what they make of their buffers is written down there (RecordingMachine.cpp).
#include "DeviceMachine.h"
#include "RecordingMachine.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "runtime/Device/Emulator/Emulator.h"
#include <set>
using namespace mlir;
using namespace hocket::runtime;

namespace hocket::codegen::testing {
namespace {
class EmulatedMachine : public Machine {
public:
  bool load(ModuleOp kernels, const cuda::Toolkit &toolkit) {
    for (ModuleOp kernel : kernels.getOps<ModuleOp>()) {
      auto bitcode = cuda::translateKernel(kernel, toolkit);
      if (!bitcode) {
        ADD_FAILURE() << llvm::toString(bitcode.takeError());
        return false;
      }
      auto loaded = gpu.load(*bitcode);
      if (!loaded) {
        ADD_FAILURE() << loaded.error().message;
        return false;
      }
      modules[kernel.getSymName()->str()] = *loaded;
    }
    return true;
  }
  bool cutsWork() const override { return false; }
  void run(func::FuncOp kernel, ArrayRef<HostBuffer *> buffers, ArrayRef<int64_t> numbers, int) override {
    std::vector<void *> pointers;
    std::vector<const void *> arguments;
    std::set<void *> known;
    for (HostBuffer *buffer : buffers) {
      pointers.push_back(buffer->bytes.data());
      if (known.insert(pointers.back()).second)
        gpu.addRegion(pointers.back(), buffer->type.getNumElements() * buffer->type.getElementTypeBitWidth() / 8,
                      "buffer " + std::to_string(pointers.size() - 1));
    }
    // what a scratch holds is nobody's promise
    std::vector<double> scratch((cuda::scratchBytesOf(kernel) + 7) / 8, std::nan(""));
    void *scratchBase = scratch.data();
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    for (const int64_t &number : numbers)
      arguments.push_back(&number);
    if (!scratch.empty()) {
      gpu.addRegion(scratchBase, scratch.size() * 8, "scratch");
      known.insert(scratchBase);
      arguments.push_back(&scratchBase);
    }
    for (const cuda::Launch &launch : cuda::launchesOf(kernel)) {
      auto extent = [](const std::array<int64_t, 3> &size) {
        return emulator::Extent{static_cast<uint32_t>(size[0]), static_cast<uint32_t>(size[1]),
                                static_cast<uint32_t>(size[2])};
      };
      auto status = gpu.launch(*modules.at(kernel.getSymName().str()), launch.symbol, extent(launch.grid),
                               extent(launch.block), static_cast<uint32_t>(launch.sharedBytes), arguments);
      EXPECT_TRUE(status) << (status ? "" : status.error().message);
    }
    for (void *begin : known)
      gpu.removeRegion(begin);
  }

private:
  emulator::Emulator gpu;
  std::map<std::string, const emulator::KernelModule *> modules;
};
} // namespace

std::unique_ptr<Machine> Machine::compile(ModuleOp module, llvm::StringRef) {
  auto toolkit = cuda::Toolkit::find();
  if (!toolkit) {
    ADD_FAILURE() << llvm::toString(toolkit.takeError());
    return nullptr;
  }
  FailureOr<OwningOpRef<ModuleOp>> made = cuda::emitKernels(module);
  if (failed(made))
    return nullptr;
  if (const char *device = std::getenv("HOCKET_TEST_DEVICE"))
    return compileForDevice(device, **made, *toolkit);
  auto machine = std::make_unique<EmulatedMachine>();
  if (!machine->load(**made, *toolkit))
    return nullptr;
  if (const char *folder = std::getenv("HOCKET_TEST_RECORD"))
    return recordKernels(std::move(machine), folder, **made, *toolkit);
  return machine;
}
} // namespace hocket::codegen::testing
