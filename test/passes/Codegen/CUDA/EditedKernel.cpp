// See EditedKernel.h.
#include "EditedKernel.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Device/Emulator/Emulator.h"
#include <set>
using namespace mlir;

namespace hocket::codegen::testing {
namespace emulator = hocket::runtime::emulator;

Outcome runEdited(MLIRContext &context, const std::string &text, const std::vector<HostBuffer> &inputs, Edit edit,
                  ArrayRef<int64_t> inPlace) {
  context.loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  Outcome run;
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto made = cuda::emitKernels(*module);
  if (failed(made)) {
    ADD_FAILURE() << "no kernel is made of " << text;
    return run;
  }
  auto function = module->lookupSymbol<func::FuncOp>("k");
  auto kernel = (*made)->lookupSymbol<ModuleOp>("k");
  Launches launches = cuda::launchesOf(function);
  edit(kernel, launches);
  auto toolkit = llvm::cantFail(cuda::Toolkit::find());
  emulator::Emulator device;
  auto loaded = device.load(llvm::cantFail(cuda::translateKernel(kernel, toolkit)));
  if (!loaded) {
    ADD_FAILURE() << loaded.error().message;
    return run;
  }
  std::vector<HostBuffer> operands = inputs;
  for (Type type : function.getResultTypes())
    run.results.emplace_back(cast<RankedTensorType>(type));
  std::vector<double> scratch((cuda::scratchBytesOf(function) + 7) / 8);
  std::vector<HostBuffer *> buffers;
  for (auto *each : {&operands, &run.results})
    for (HostBuffer &buffer : *each)
      buffers.push_back(&buffer);
  for (size_t i = 0; i + 1 < inPlace.size(); i += 2)
    buffers[operands.size() + inPlace[i]] = &operands[inPlace[i + 1]];
  std::vector<void *> pointers;
  std::set<void *> known;
  for (HostBuffer *buffer : buffers) {
    pointers.push_back(buffer->bytes.data());
    size_t bytes = buffer->type.getNumElements() * buffer->type.getElementTypeBitWidth() / 8;
    if (known.insert(pointers.back()).second)
      device.addRegion(pointers.back(), bytes, "buffer " + std::to_string(pointers.size() - 1));
  }
  if (!scratch.empty()) {
    pointers.push_back(scratch.data());
    device.addRegion(pointers.back(), scratch.size() * 8, "scratch");
  }
  std::vector<const void *> arguments;
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  for (const cuda::Launch &launch : launches) {
    auto extent = [](const std::array<int64_t, 3> &size) {
      return emulator::Extent{static_cast<uint32_t>(size[0]), static_cast<uint32_t>(size[1]),
                              static_cast<uint32_t>(size[2])};
    };
    auto status = device.launch(**loaded, launch.symbol, extent(launch.grid), extent(launch.block),
                                static_cast<uint32_t>(launch.sharedBytes), arguments);
    if (!status)
      run.faults += status.error().message + "\n";
  }
  for (size_t i = 0; i + 1 < inPlace.size(); i += 2)
    run.results[inPlace[i]] = operands[inPlace[i + 1]];
  return run;
}
} // namespace hocket::codegen::testing
