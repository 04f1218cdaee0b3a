// Manual regions mean what the same block means that is split by a plan: a feed-forward part written by hand for each
// rank, in several ways, against the plain one on one rank.
#include "test/passes/Dist/LocalModels.h"
#include <gtest/gtest.h>
#include <limits>
using namespace mlir;
using namespace hocket;
using namespace hocket::testing;

namespace {
/// The greatest difference, after two steps, between the plain model on one rank and the other on the plan's ranks (or
/// on one rank too: a region on whole tensors).
WorstDifference against(const TestModel &expectedModel, const TestModel &foundModel, const TestPlan &plan, bool ranks) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int64_t rows = 2 * plan.dp;
  Program whole = compilePlan(expectedModel, plan, rows, 2, /*local=*/false);
  Program local = compilePlan(foundModel, plan, rows, 2, ranks);
  if (!whole.step || !local.step)
    return {infinity, "does not compile"};
  interpreter::LockstepOps ops;
  dist::addLockstepCollectives(ops);
  interpreter::Interpreter one(whole.step);
  std::unique_ptr<interpreter::Interpreter> many;
  if (ranks) {
    interpreter::RankGrid grid = dist::rankGridOf(*local.module->getOps<dist::MeshOp>().begin());
    many = std::make_unique<interpreter::Interpreter>(local.step, grid, &ops, dist::slotLayoutOf(grid));
  } else {
    many = std::make_unique<interpreter::Interpreter>(local.step);
  }
  one.initialize(3);
  many->initialize(3);
  for (unsigned step = 0; step < 2; ++step) {
    interpreter::Batch batch = randomBatch(2, rows, 4, 13, step);
    auto expected = one.train(batch), found = many->train(batch);
    if (failed(expected) || failed(found))
      return {infinity, "does not run"};
    if (double difference = std::abs(found->loss / expected->loss - 1); !(difference <= 1e-9))
      return {difference, "loss"};
  }
  auto differences = interpreter::compare(one, *many);
  if (failed(differences))
    return {infinity, "ranks disagree"};
  WorstDifference worst;
  for (const interpreter::TensorDifference &each : *differences)
    if (double value = std::min(each.relative, each.absolute); !(value <= worst.value))
      worst = {value, each.name};
  return worst;
}

struct Case {
  const TestModel *expected, *found;
};
void PrintTo(const Case &each, std::ostream *os) { *os << each.found->name; }
const Case cases[] = {{&plainBlock, &megatronRegion},
                      {&plainBlock, &openRegion},
                      {&plainBlock, &sequenceRegion},
                      {&plainBlock, &tokensRegion},
                      {&squareBlock, &byHandRegion}};
class Local : public ::testing::TestWithParam<Case> {};
} // namespace

TEST_P(Local, OnWholeTensorsItIsThePlainBlock) {
  WorstDifference worst = against(*GetParam().expected, *GetParam().found, {1, 2, 0}, /*ranks=*/false);
  EXPECT_LE(worst.value, 1e-9) << worst.name;
}
TEST_P(Local, OnRanksItIsThePlainBlock) {
  for (const TestPlan &plan : {TestPlan{1, 2, 0}, TestPlan{2, 2, 1}}) {
    WorstDifference worst = against(*GetParam().expected, *GetParam().found, plan, /*ranks=*/true);
    EXPECT_LE(worst.value, 1e-9) << worst.name << " at dp" << plan.dp;
  }
}
// Nothing but the batch is split by the plan: parameters take their splits from the region.
TEST_P(Local, SplitsItsParametersByItself) {
  TestPlan plan{2, 2, 0};
  plan.splits = "";
  WorstDifference worst = against(*GetParam().expected, *GetParam().found, plan, /*ranks=*/true);
  EXPECT_LE(worst.value, 1e-9) << worst.name;
}
// The sequence around a region is split over the region's own axis: gathered on the way in, scattered on the way out.
TEST_P(Local, StandsBetweenSplitSequences) {
  for (const char *splits :
       {"split megatron over \"tp\"\n  sequence over \"tp\"",
        "split megatron over \"tp\"\n  sequence over \"tp\" keep gathered", "sequence over \"tp\""}) {
    TestPlan plan{2, 2, 1};
    plan.splits = splits;
    WorstDifference worst = against(*GetParam().expected, *GetParam().found, plan, /*ranks=*/true);
    EXPECT_LE(worst.value, 1e-9) << worst.name << " under " << splits;
  }
}
INSTANTIATE_TEST_SUITE_P(Regions, Local, ::testing::ValuesIn(cases),
                         [](const ::testing::TestParamInfo<Case> &info) { return info.param.found->name; });
