// Expert parallelism never changes what a model computes: a tiny mixture under many plans, in float64, against one
// rank.
#include "test/passes/Dist/PlanRuns.h"
#include <cmath>
#include <gtest/gtest.h>
using namespace hocket::testing;

namespace {
constexpr double tolerance = 1e-9;

void expectEqual(int64_t dp, int64_t tp, int64_t zero, std::string tactics) {
  TestPlan plan{dp, tp, zero, tactics};
  plan.entries = "capacity 1\nauxiliary_loss 0.3";
  WorstDifference worst = compareWithOneRank(fourExperts, plan, 2 * dp, 2, 2);
  EXPECT_LE(worst.value, tolerance) << tactics << ": " << worst.name;
}
} // namespace

TEST(Experts, OverNoAxis) {
  expectEqual(2, 1, 0, "");
  expectEqual(2, 2, 1, "split megatron over \"tp\"");
}
TEST(Experts, OverTheBatch) {
  for (int64_t zero : {0, 1, 2, 3})
    for (int64_t dp : {2, 4})
      expectEqual(dp, 1, zero, "experts over \"dp\"");
}
TEST(Experts, EachOverTensorParallelRanksToo) {
  for (int64_t zero : {0, 1})
    expectEqual(2, 2, zero, "experts over \"dp\"\nsplit megatron over \"tp\"");
}
// Two groups of ranks that exchange tokens; each expert lives in both, and its gradient is a sum over them.
TEST(Experts, OverAPartOfTheBatch) {
  for (int64_t zero : {0, 1, 2, 3}) {
    expectEqual(4, 1, zero, "experts over {\"dp\":(2)2}");
    expectEqual(4, 2, zero, "experts over {\"dp\":(2)2}\nsplit megatron over \"tp\"");
  }
}
// Experts instead of pieces of experts on the tensor-parallel ranks: etp is 1.
TEST(Experts, OverTensorParallelRanks) {
  for (int64_t zero : {0, 1}) {
    expectEqual(1, 4, zero, "experts over \"tp\"");
    expectEqual(2, 2, zero, "experts over \"tp\"\nsplit megatron over \"tp\"");
    expectEqual(2, 2, zero, "experts over {\"dp\", \"tp\"}\nsplit megatron over \"tp\"");
  }
}
// The comparison can fail: sums over the two homes of each expert are seen. (An exchange that does nothing has no
// shape.)
TEST(Experts, WhatIsBrokenIsSeen) {
  TestPlan plan{4, 1, 0, "experts over {\"dp\":(2)2}"};
  plan.entries = "capacity 1";
  EXPECT_GT(compareWithOneRank(fourExperts, plan, 8, 1, 1, "dist.all_reduce").value, 1e-3);
}

// Squares are 20 on one rank's experts and 100 on the other's: the norm is sqrt(120), and not what the norms of both
// would give on average, 7.236. A gradient that both ranks have a part of, 3 and 1, is one of 4.
TEST(Experts, SquaresAreAddedOverTheRanksThatShareExperts) {
  using namespace hocket;
  TestPlan plan{2, 1, 0, "experts over \"dp\""};
  plan.entries = "capacity 1";
  Program local = compilePlan(fourExperts, plan, 4, 1);
  ASSERT_TRUE(local.step);
  interpreter::LockstepOps ops;
  dist::addLockstepCollectives(ops);
  interpreter::RankGrid grid = dist::rankGridOf(*local.module->getOps<dist::MeshOp>().begin());
  for (bool shared : {false, true}) {
    interpreter::Machine machine(local.step, grid, &ops, interpreter::Precision::Float64);
    for (auto slot : local.step.getSlots().front().getOps<nn::SlotOp>()) {
      auto type = mlir::cast<mlir::RankedTensorType>(slot.getType());
      nn::HostTensor all(type.getShape(), slot.getKind() == nn::SlotKind::Input ? 1 : 0); // the step is 1
      interpreter::PerRank ranks(2, all);
      if (slot.getKind() == nn::SlotKind::Accumulator && slot.getName() == "h.0.moe.experts.down.weight")
        ranks[0][3] = 2, ranks[0][7] = -4, ranks[1][5] = 10;
      if (shared && slot.getKind() == nn::SlotKind::Accumulator && slot.getName() == "h.1.moe.gate.weight")
        ranks[0][0] = 3, ranks[1][0] = 1;
      machine.set({slot.getKind(), slot.getName().str()}, ranks);
    }
    ASSERT_TRUE(mlir::succeeded(machine.run(local.step.getUpdate())));
    double norm = std::sqrt(shared ? 120 + 16 : 120);
    for (const nn::HostTensor &found : *machine.get({nn::SlotKind::Output, "grad_norm"}))
      EXPECT_NEAR(found[0], norm, 1e-12);
    const interpreter::PerRank &moments = *machine.get({nn::SlotKind::FirstMoment, "h.0.moe.experts.down.weight"});
    EXPECT_NEAR(moments[1][5], 0.1 * 10 / (norm + 1e-6), 1e-9); // clipped to 1: 0.091287 for sqrt(120)
  }
}
