// hocket explain --kernels: the kernels and matrix products of a program for "cuda", what the assembler says of each,
// how often a step runs it, and how fast a GPU that has a name can be at best.
#pragma once
#include "passes/Analysis/GpuFloor.h"
#include "runtime/Program/program_generated.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace hocket::tools {

/// A kernel, or products that are alike.
struct WorkReport {
  std::string name; ///< "k_gelu_…"; "bf16 4096 x 768 x 3072, B transposed, then gelu_grad"
  uint32_t kernel;  ///< of Program.kernels; none of a product
  uint64_t flops, bytes;
  analysis::GpuUnits units; ///< that do its work: of a kernel tensor cores where its code has mma.sync
  bool product;
};
/// Stages that run the same.
struct StageWork {
  std::vector<uint32_t> stages;
  std::vector<std::pair<size_t, uint64_t>> times; ///< index of work, runs of it in a step; as first run
};
struct KernelReport {
  std::vector<WorkReport> work;
  std::vector<StageWork> stages;
};

/// Of all stages, or of one rank's.
KernelReport kernelReport(const program::ProgramT &program, std::optional<uint32_t> rank);
/// Without a GPU there are no floors.
std::string kernelText(const KernelReport &report, const program::ProgramT &program, const analysis::Gpu *gpu);
nlohmann::ordered_json kernelJson(const KernelReport &report, const program::ProgramT &program,
                                  const analysis::Gpu *gpu);
} // namespace hocket::tools
