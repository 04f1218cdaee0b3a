// What routers choose under a plan, token by token, against one rank.
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::testing;
using interpreter::Precision;

namespace {
/// The whole model on one rank and its plan on all ranks, with the same state and the same batches.
struct Pair {
  Program whole, local;
  interpreter::LockstepOps ops;
  std::unique_ptr<interpreter::Interpreter> one, many;
  int64_t rows;

  Pair(TestPlan plan, Precision precision) : rows(2 * plan.dp) {
    plan.entries = "capacity 1\nauxiliary_loss 0.3";
    whole = compilePlan(fourExperts, plan, rows, 2, /*local=*/false);
    local = compilePlan(fourExperts, plan, rows, 2);
    dist::addLockstepCollectives(ops);
    interpreter::RankGrid grid = dist::rankGridOf(*local.module->getOps<dist::MeshOp>().begin());
    one = std::make_unique<interpreter::Interpreter>(whole.step, interpreter::RankGrid(), nullptr,
                                                     interpreter::SlotLayout(), precision);
    many = std::make_unique<interpreter::Interpreter>(local.step, grid, &ops, dist::slotLayoutOf(grid), precision);
    for (auto *each : {one.get(), many.get()}) {
      each->initialize(3);
      each->recordChoices();
    }
  }
  bool train(unsigned step) {
    interpreter::Batch batch = randomBatch(2, rows, fourExperts.sequence, fourExperts.vocabulary, step);
    return mlir::succeeded(one->train(batch)) && mlir::succeeded(many->train(batch));
  }
  /// Of layer h.0 and h.1.
  llvm::SmallVector<interpreter::ChoiceDifference> differences() { return compareChoices(*one, *many); }
};

const TestPlan plans[] = {{2, 2, 1, "experts over \"dp\"\nsplit megatron over \"tp\""},
                          {1, 4, 0, "experts over \"tp\""},
                          {4, 1, 0, "experts over {\"dp\":(2)2}"}};
} // namespace

// In float64 every token of every step goes to the experts of one rank; and in bf16 the ranks that route the same
// tokens agree to the last bit (`train` fails otherwise), whatever they choose.
TEST(Choices, AreThoseOfOneRank) {
  for (const TestPlan &plan : plans) {
    Pair exact(plan, Precision::Float64);
    for (unsigned step = 0; step < 2; ++step)
      ASSERT_TRUE(exact.train(step)) << plan.splits;
    auto found = exact.differences();
    ASSERT_EQ(found.size(), 2u);
    for (const interpreter::ChoiceDifference &layer : found) {
      EXPECT_EQ(layer.tokens, 2 * 2 * exact.rows * fourExperts.sequence) << layer.layer;
      EXPECT_EQ(layer.elsewhere, 0) << layer.layer << " under " << plan.splits;
    }
  }
}
TEST(Choices, AreOneChoiceOnAllRanksWhateverIsRounded) {
  for (TestPlan plan : plans) {
    plan.precision = "params bf16 compute bf16 accumulate f32 reduce f32 master f32";
    Pair rounded(plan, Precision::Declared);
    for (unsigned step = 0; step < 4; ++step)
      EXPECT_TRUE(rounded.train(step)) << plan.splits;
  }
}
// Another gate sends tokens elsewhere, and is seen.
TEST(Choices, OfAnotherGateAreSeen) {
  Pair pair(plans[0], Precision::Float64);
  nn::HostTensor gate = *pair.many->state(nn::SlotKind::Param, "h.1.moe.gate.weight");
  for (double &weight : gate.data)
    weight = -weight;
  ASSERT_TRUE(pair.many->setState(nn::SlotKind::Param, "h.1.moe.gate.weight", gate));
  ASSERT_TRUE(pair.train(0));
  auto found = pair.differences();
  EXPECT_EQ(found[0].elsewhere, 0);
  EXPECT_GT(found[1].elsewhere, found[1].tokens / 2);
  EXPECT_NE(interpreter::reportText(found).find(" tokens go to other experts\n"), std::string::npos);
}
