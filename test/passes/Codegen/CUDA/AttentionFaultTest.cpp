// Faults planted in attention's GPU kernels, one at a time: each barrier left out, each wait for cp.async made too
// weak, each kind of ldmatrix turned wrongly, too little shared memory. The emulator reports each, or the result is
// wrong.
#include "AttentionCase.h"
#include "EditedKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::codegen::testing;

namespace {
class AttentionFaults : public ::testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    AttentionCase c{1, 130, 130, 1, 1, 64, 64, "causal scale(0.2)"};
    AttentionTexts texts = textsOf(c, "bf16");
    forwardKernels = std::make_unique<Kernels>(texts.forward);
    backwardKernels = std::make_unique<Kernels>(texts.backward);
    Kernels &forward = *forwardKernels, &backward = *backwardKernels;
    ASSERT_TRUE(forward.compiled() && backward.compiled());
    auto forwardInputs = attentionInputs(forward.function("k"), c, Order::Rising);
    if (!GetParam()) {
      text = texts.forward, inputs = forwardInputs, expected = forward.reference("k", inputs);
      return;
    }
    text = texts.backward;
    inputs = attentionGradInputs(backward.function("k"), forwardInputs, forward.run("k", forwardInputs));
    expected = backward.reference("k", inputs);
  }
  bool right(const Outcome &run) {
    for (auto [result, wanted] : llvm::zip(run.results, expected))
      if (!(relativeError(result.values(), wanted) <= reductionTolerance("bf16")))
        return false;
    return true;
  }
  template <typename OpT>
  int plantEach(llvm::function_ref<void(OpT)> fault, llvm::function_ref<void(int, Outcome)> check) {
    return codegen::testing::plantEach<OpT>(context, text, inputs, fault, check);
  }
  MLIRContext context;
  std::unique_ptr<Kernels> forwardKernels, backwardKernels; ///< the inputs' types are theirs
  std::string text;
  std::vector<HostBuffer> inputs;
  std::vector<HostTensor> expected;
};

TEST_P(AttentionFaults, NoneInTheKernels) {
  Outcome run = runEdited(context, text, inputs, [](ModuleOp, auto &) {});
  EXPECT_EQ(run.faults, "");
  EXPECT_TRUE(right(run));
}

TEST_P(AttentionFaults, EachBarrierLeftOutIsARace) {
  std::vector<int> unnoticed;
  int barriers = plantEach<NVVM::Barrier0Op>([](NVVM::Barrier0Op op) { op.erase(); },
                                             [&](int which, const Outcome &run) {
                                               if (run.faults.empty())
                                                 unnoticed.push_back(which);
                                             });
  EXPECT_EQ(barriers, GetParam() ? 15 : 5);
  // the first of a kernel's write: these sizes put the results over rows that all warps are done with already
  EXPECT_EQ(unnoticed, GetParam() ? (std::vector<int>{4, 11}) : (std::vector<int>{3}));
}

TEST_P(AttentionFaults, EachWeakWaitIsReported) {
  std::vector<int> unnoticed;
  int waits = plantEach<NVVM::CpAsyncWaitGroupOp>([](NVVM::CpAsyncWaitGroupOp op) { op.setN(op.getN() + 1); },
                                                  [&](int which, const Outcome &run) {
                                                    if (run.faults.find("cp.async of thread") == std::string::npos)
                                                      unnoticed.push_back(which);
                                                  });
  EXPECT_EQ(waits, GetParam() ? 7 : 2);
  // where dy has been read nothing is on its way: the barrier alone counts there
  EXPECT_EQ(unnoticed, GetParam() ? (std::vector<int>{5}) : std::vector<int>());
}

TEST_P(AttentionFaults, EachWrongTransposeGivesWrongNumbers) {
  // one after another would be a hundred: those of each product at once
  for (NVVM::MMALayout layout : {NVVM::MMALayout::row, NVVM::MMALayout::col}) {
    Outcome run = runEdited(context, text, inputs, [&](ModuleOp kernel, auto &) {
      kernel.walk([&](NVVM::LdMatrixOp op) {
        if (op.getLayout() == layout)
          op.setLayout(layout == NVVM::MMALayout::row ? NVVM::MMALayout::col : NVVM::MMALayout::row);
      });
    });
    EXPECT_FALSE(right(run));
  }
}

TEST_P(AttentionFaults, ShortSharedMemoryIsReported) {
  Outcome run = runEdited(context, text, inputs, [](ModuleOp, Launches &launches) {
    for (cuda::Launch &launch : launches)
      launch.sharedBytes = std::max<int64_t>(launch.sharedBytes - 16, 0);
  });
  EXPECT_NE(run.faults, "");
}

INSTANTIATE_TEST_SUITE_P(BothWays, AttentionFaults, ::testing::Values(false, true),
                         [](const auto &info) { return info.param ? "Backward" : "Forward"; });
} // namespace
