// Memory that a program for GPUs has behind the planned arena, and that belongs to no value. (What else it has beside
// that for CPUs, the code of its kernels, comes from addGpuCode.)
#pragma once
#include "dialect/Step/Step.h"
#include "runtime/Program/program_generated.h"

namespace hocket::step {

/// What cublasLt may use while it computes a product, on a rank that has any: NVIDIA asks for 32 MiB on Hopper and
/// Blackwell, where products that are split along k or over uneven tiles ("stream-k") keep partial sums there. With
/// less, cublasLt only finds slower algorithms; older GPUs need 4 MiB.
inline constexpr uint64_t productsWorkspaceBytes = uint64_t(32) << 20;

/// Puts the scratch of kernels and the workspace of products behind `out.arenaBytes`, each at a multiple of 256 bytes
/// (what cuMemAlloc gives, and more than kernels and cublasLt ask for). The scratch is the greatest of any kernel that
/// `program` launches: kernels run one after another.
void addGpuMemory(ProgramOp program, program::RankProgramT &out);
/// What addGpuMemory adds at most to the arena of any of the module's programs: for the choice of what fits.
uint64_t gpuMemoryBytes(mlir::ModuleOp module);
} // namespace hocket::step
