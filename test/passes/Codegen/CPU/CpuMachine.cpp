// The CPU that the tests run on, as a machine for kernels (KernelTesting.h).
#include "KernelTesting.h"
#include "passes/Codegen/CPU/Kernels.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
using namespace mlir;

namespace hocket::codegen::testing {
namespace {
class CpuMachine : public Machine {
public:
  explicit CpuMachine(llvm::ArrayRef<char> object) : jit(llvm::cantFail(llvm::orc::LLJITBuilder().create())) {
    jit->getMainJITDylib().addGenerator(llvm::cantFail(
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix())));
    llvm::cantFail(jit->addObjectFile(
        llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "kernels")));
  }
  bool cutsWork() const override { return true; }
  void run(func::FuncOp kernel, ArrayRef<HostBuffer *> buffers, ArrayRef<int64_t> numbers, int pieces) override {
    using Function = void (*)(void *const *, const int64_t *, int64_t, int64_t);
    auto function = llvm::cantFail(jit->lookup(kernel.getSymName())).toPtr<Function>();
    std::vector<void *> pointers;
    for (HostBuffer *buffer : buffers)
      pointers.push_back(buffer->bytes.data());
    int64_t count = kernel->getAttrOfType<IntegerAttr>(cpu::tilesAttr).getInt(), step = (count + pieces - 1) / pieces;
    for (int64_t begin = (count - 1) / step * step; begin >= 0; begin -= step)
      function(pointers.data(), numbers.data(), begin, std::min(begin + step, count));
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
} // namespace

std::unique_ptr<Machine> Machine::compile(ModuleOp module, llvm::StringRef march) {
  std::string error;
  FailureOr<cpu::CpuTarget> target = cpu::CpuTarget::find(march, error);
  if (failed(target))
    return nullptr;
  FailureOr<OwningOpRef<ModuleOp>> made = cpu::emitKernels(module, *target);
  if (failed(made))
    return nullptr;
  auto object = cpu::emitObject(**made, *target, {});
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return nullptr;
  }
  return std::make_unique<CpuMachine>(*object);
}
} // namespace hocket::codegen::testing
