// One kernel of a GPU, run by the emulator after its module was edited: how tests plant faults.
#pragma once
#include "KernelTesting.h"
#include "passes/Codegen/CUDA/Kernels.h"

namespace hocket::codegen::testing {
using Launches = llvm::SmallVector<cuda::Launch>;
using Edit = llvm::function_ref<void(mlir::ModuleOp kernel, Launches &launches)>;

struct Outcome {
  std::string faults; ///< the emulator's words, all launches
  std::vector<HostBuffer> results;
};
/// Emits kernel @k of `text`, edits it and runs it. The buffers' types belong to `context`. `inPlace`: pairs (result,
/// operand) that share memory.
Outcome runEdited(mlir::MLIRContext &context, const std::string &text, const std::vector<HostBuffer> &inputs, Edit edit,
                  llvm::ArrayRef<int64_t> inPlace = {});

/// Plants a fault at each op of a kind in turn, one a run; returns how many ops there are.
template <typename OpT>
int plantEach(mlir::MLIRContext &context, const std::string &text, const std::vector<HostBuffer> &inputs,
              llvm::function_ref<void(OpT)> fault, llvm::function_ref<void(int, Outcome)> check,
              llvm::ArrayRef<int64_t> inPlace = {}) {
  int count = 1;
  for (int which = 0; which < count; ++which) {
    Outcome run = runEdited(
        context, text, inputs,
        [&](mlir::ModuleOp kernel, Launches &) {
          llvm::SmallVector<OpT> ops;
          kernel.walk([&](OpT op) { ops.push_back(op); });
          count = static_cast<int>(ops.size());
          if (count)
            fault(ops[which]);
        },
        inPlace);
    if (count)
      check(which, std::move(run));
  }
  return count;
}
} // namespace hocket::codegen::testing
