// See GpuFloor.h.
#include "passes/Analysis/GpuFloor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace hocket::analysis {
namespace {
// Dense rates and bandwidths from NVIDIA's data sheets: A100 (June 2021; PCIe parts have the same rates and less
// memory bandwidth), H100 (SXM and PCIe), H200 (SXM), HGX B200 (a GPU of eight).
constexpr Gpu gpus[] = {
    {"A100-40GB", "sm_80", 1.555, 312, 156, 19.5}, {"A100", "sm_80", 2.039, 312, 156, 19.5},
    {"H100", "sm_90", 3.35, 989, 494, 67},         {"H100-PCIe", "sm_90", 2.0, 756, 378, 51},
    {"H200", "sm_90", 4.8, 989, 494, 67},         {"B200", "sm_100", 8.0, 2250, 1100, 75},
};
} // namespace

double Gpu::flopsPerSecond(GpuUnits units) const {
  switch (units) {
  case GpuUnits::Tensor16:
    return tensor16Teraflops * 1e12;
  case GpuUnits::TensorTf32:
    return tensorTf32Teraflops * 1e12;
  case GpuUnits::Float32:
    return float32Teraflops * 1e12;
  }
  return 0;
}

const Gpu *findGpu(llvm::StringRef name) {
  auto found = llvm::find_if(gpus, [&](const Gpu &gpu) { return gpu.name.equals_insensitive(name); });
  return found == std::end(gpus) ? nullptr : found;
}

std::string gpuNames() {
  std::string names;
  for (const Gpu &gpu : gpus)
    names += (names.empty() ? "" : ", ") + gpu.name.str();
  return names;
}

Floor floorOf(const Gpu &gpu, int64_t bytes, int64_t flops, GpuUnits units) {
  return {static_cast<double>(bytes) / gpu.bytesPerSecond(), static_cast<double>(flops) / gpu.flopsPerSecond(units)};
}

std::string floorText(const Floor &floor) {
  double us = floor.seconds() * 1e6;
  std::string time = us < 1000 ? llvm::formatv("{0:F2} us", us).str() : llvm::formatv("{0:F2} ms", us / 1000).str();
  return time + (floor.boundByMemory() ? ", memory" : ", work");
}
} // namespace hocket::analysis
