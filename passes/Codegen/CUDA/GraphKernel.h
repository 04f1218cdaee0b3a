// A kernel over rows x columns: which GPU kernels it takes, and each of them written into a frame.
#pragma once
#include "passes/Codegen/CUDA/GraphEmitters.h"

namespace hocket::cuda {
class GraphKernel {
public:
  explicit GraphKernel(mlir::func::FuncOp kernel) : kernel(kernel) {}
  /// Decides the GPU kernels. Fails at the kernel or at an op: ops that cannot be one kernel, or have no rule.
  mlir::LogicalResult plan();
  int64_t scratchBytes() const { return scratch; }
  size_t launches() const { return stages.size(); }
  /// Writes GPU kernel `which` at the frame's place. The graph is built for it, with the frame's buffers.
  Launch write(size_t which, GpuFrame &frame) const;

private:
  using Body = std::function<Launch(GpuEmit &, GpuFrame &, Graph &)>;
  void addStage(int64_t lanes, Body body) { stages.push_back({lanes, std::move(body)}); }
  void planSums(const Graph &graph);

  struct Stage {
    int64_t lanes;
    Body body;
  };
  mlir::func::FuncOp kernel;
  KernelShape shape;
  int64_t scratch = 0;
  std::vector<Stage> stages;
};
} // namespace hocket::cuda
