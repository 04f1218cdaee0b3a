// How fast a kernel can be at best on a GPU that has a name: the longer of moving its bytes and of doing its work.
//
//   floor = max(bytes / bandwidth of memory, FLOPs / rate of the units that do them)        (the roofline of Williams,
//   Waterman and Patterson, "Roofline", CACM 52(4), 2009, without the rest of a kernel's costs)
//
// A kernel takes longer than its floor; starting one costs some microseconds more, which are not counted.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace hocket::analysis {

/// What does the work: tensor cores on 16-bit operands that add in f32, tensor cores on f32 operands cut to 19 bits
/// (TF32), or plain multiply-adds in f32. Never with sparsity.
enum class GpuUnits : uint8_t { Tensor16, TensorTf32, Float32 };

struct Gpu {
  llvm::StringLiteral name;         ///< "H100"
  llvm::StringLiteral architecture; ///< of the cubin it loads: "sm_90"
  double terabytesPerSecond;        ///< of its memory, 1e12 bytes
  double tensor16Teraflops, tensorTf32Teraflops, float32Teraflops;

  double bytesPerSecond() const { return terabytesPerSecond * 1e12; }
  double flopsPerSecond(GpuUnits units) const;
};
/// By name, in letters of either case: A100-40GB, A100 (the one of 80 GB), H100, H100-PCIe, H200, B200. Null if there
/// is none.
const Gpu *findGpu(llvm::StringRef name);
/// "A100-40GB, A100, …": for messages and help.
std::string gpuNames();

/// Seconds below which no run of a kernel comes.
struct Floor {
  double memorySeconds = 0, workSeconds = 0;
  double seconds() const { return memorySeconds > workSeconds ? memorySeconds : workSeconds; }
  bool boundByMemory() const { return memorySeconds >= workSeconds; }
};
Floor floorOf(const Gpu &gpu, int64_t bytes, int64_t flops, GpuUnits units);
/// "8.40 us, memory" or "1.25 ms, work".
std::string floorText(const Floor &floor);
} // namespace hocket::analysis
