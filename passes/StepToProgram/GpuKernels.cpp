// See GpuKernels.h, and addGpuCode of StepToProgram.h.
#include "passes/StepToProgram/GpuKernels.h"
#include "passes/StepToProgram/StepToProgram.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static constexpr uint64_t gpuAlignment = 256;

/// "sm_90" as 90.
static uint32_t numberOf(StringRef architecture) {
  uint32_t number = 0;
  architecture.consume_front("sm_");
  architecture.getAsInteger(10, number);
  return number;
}

static std::unique_ptr<program::GpuLaunchT> convertLaunch(const cuda::Launch &launch,
                                                          const cuda::CompiledKernel &kernel) {
  auto made = std::make_unique<program::GpuLaunchT>();
  made->symbol = launch.symbol;
  made->shape = std::make_unique<program::GpuShape>(launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                                    launch.block[1], launch.block[2], launch.sharedBytes);
  for (const cuda::Cubin &cubin : kernel.cubins)
    for (const cuda::Figures &figures : cubin.figures)
      if (figures.symbol == launch.symbol)
        made->figures.emplace_back(numberOf(cubin.architecture), figures.registers, figures.sharedBytes,
                                   figures.stackBytes, figures.spillStoreBytes + figures.spillLoadBytes);
  return made;
}

/// Launches with the assembler's figures, bitcode, PTX and cubins.
static std::unique_ptr<program::GpuCodeT> convertCode(const cuda::CompiledKernel &kernel) {
  auto made = std::make_unique<program::GpuCodeT>();
  for (const cuda::Launch &launch : kernel.launches)
    made->launches.push_back(convertLaunch(launch, kernel));
  made->scratchBytes = kernel.scratchBytes;
  made->bitcode.assign(kernel.bitcode.begin(), kernel.bitcode.end());
  made->ptx = kernel.ptx;
  for (const cuda::Cubin &cubin : kernel.cubins) {
    made->cubins.push_back(std::make_unique<program::CubinT>());
    made->cubins.back()->architecture = numberOf(cubin.architecture);
    made->cubins.back()->code.assign(cubin.bytes.begin(), cubin.bytes.end());
  }
  return made;
}

void hocket::step::addGpuCode(program::ProgramT &program, ArrayRef<cuda::CompiledKernel> kernels) {
  llvm::StringMap<program::KernelT *> byName;
  for (auto &kernel : program.kernels)
    byName[kernel->symbol] = kernel.get();
  for (const cuda::CompiledKernel &kernel : kernels)
    if (program::KernelT *found = byName.lookup(kernel.name))
      found->gpu = convertCode(kernel);
}

void hocket::step::addGpuMemory(ProgramOp program, program::RankProgramT &out) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  bool products = false;
  program->walk([&](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      out.scratchBytes = std::max<uint64_t>(out.scratchBytes, cuda::scratchBytesOf(symbols.lookup(launch.getKernel())));
    products |= isa<GemmOp>(op);
  });
  auto place = [&](uint64_t bytes) {
    uint64_t offset = llvm::alignTo(out.arenaBytes, gpuAlignment);
    out.arenaBytes = offset + bytes;
    return offset;
  };
  if (out.scratchBytes)
    out.scratchOffset = place(out.scratchBytes);
  out.productsBytes = products ? productsWorkspaceBytes : 0;
  if (out.productsBytes)
    out.productsOffset = place(out.productsBytes);
}

uint64_t hocket::step::gpuMemoryBytes(ModuleOp module) {
  uint64_t most = 0;
  for (auto program : module.getOps<ProgramOp>()) {
    program::RankProgramT memory;
    memory.arenaBytes = program.getArenaBytes().value_or(0);
    uint64_t before = memory.arenaBytes;
    addGpuMemory(program, memory);
    most = std::max(most, memory.arenaBytes - before);
  }
  return most;
}
