// The builder of kernels (Graph/Emit.h) as GPU threads use it: each thread works on `lanes` elements at once.
//
// Memory is read and written in pieces of 16 bytes where the address is known to be a multiple of that: how an offset
// was written (a product with 768, a remainder of it) tells of what it is a multiple, and the buffers themselves are
// aligned.
#pragma once
#include "passes/Codegen/CUDA/StepKernel.h"
#include "passes/Codegen/Graph/Graph.h"

namespace hocket::cuda {
using codegen::Reduction;

/// The greatest power of two, at most 16, that is known to divide an integer.
int64_t knownDivisor(mlir::Value integer);

class GpuEmit : public codegen::Emit {
public:
  GpuEmit(const GpuFrame &frame, int64_t lanes);
  using Emit::setLanes;

  mlir::Value thread(int64_t count);                            ///< index x in a block: i64, below count
  mlir::Value threadY(int64_t count);                           ///< index y in a block
  mlir::Value block(int64_t count);                             ///< index x in the grid
  mlir::Value blockY(int64_t count);                            ///< index y in the grid
  void barrier();                                               ///< of the block
  mlir::Value shuffleXor(mlir::Value number, int64_t distance); ///< of 32 or 64 bits; all threads of the warp take part

  // memory; `mask` may be null; lanes without it read zero
  mlir::Value load(mlir::Type element, mlir::Value base, mlir::Value offset) override;
  void store(mlir::Type element, mlir::Value value, mlir::Value base, mlir::Value offset) override;
  mlir::Value loadVector(mlir::Type element, mlir::Value base, mlir::Value offset, mlir::Value mask) override;
  void storeVector(mlir::Type element, mlir::Value value, mlir::Value base, mlir::Value offset,
                   mlir::Value mask) override;
  /// As loadVector, where all lanes are there or none (`there`: i1).
  mlir::Value loadWhole(mlir::Type element, mlir::Value base, mlir::Value offset, mlir::Value there);

  /// Joins one number of each of the `width` threads that lie side by side (a power of two up to 32, or whole warps:
  /// the block, which must have `width` threads). All get the result; the same bits for each. Several numbers share one
  /// barrier.
  llvm::SmallVector<mlir::Value> joinThreads(llvm::ArrayRef<Reduction> kinds, mlir::ValueRange numbers, int64_t width,
                                             mlir::Value thread);
  mlir::Value lane(mlir::Value vector, int64_t index);

private:
  unsigned alignment(mlir::Type stored, mlir::Value base, mlir::Value offset, int64_t elements);
  mlir::Value index(mlir::Value register32);
  const GpuFrame &frame;
};
} // namespace hocket::cuda
