// Every mix of types under plans: the local program is the whole model's, casts, masters and loss scale included. In
// float64, where nothing is rounded, so that what differs is no rounding.
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
#include <limits>
using namespace hocket;
using namespace hocket::testing;

namespace {
struct Mix {
  const char *name, *precision, *entries = "";
};
const Mix mixes[] = {
    {"bf16", "params bf16 compute bf16 accumulate f32 reduce f32 master f32"},
    {"bf16_reduce_bf16", "params bf16 compute bf16 accumulate f32 reduce bf16 master f32"},
    {"bf16_no_master", "params bf16 compute bf16 accumulate bf16"},
    {"bf16_accumulate_bf16_reduce_f32", "params bf16 compute bf16 accumulate bf16 reduce f32 master f32"},
    {"f32_compute_bf16", "params f32 compute bf16 accumulate f32"},
    {"f16", "params f16 compute f16 accumulate f32 master f32", "loss_scale dynamic"},
    {"f32_compute_f16", "params f32 compute f16 accumulate f32 reduce f16", "loss_scale static(1024)"},
};
const TestPlan plans[] = {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {2, 2, 1}, {4, 1, 1},
                          {2, 4, 1}, {2, 2, 2}, {3, 1, 2}, {2, 2, 3}, {3, 1, 3}};

struct Case {
  const TestModel *model;
  TestPlan plan;
  const char *mix;
};
std::vector<Case> grid() {
  std::vector<Case> cases;
  for (const TestModel *model : {&fourHeadGpt, &groupedLlama})
    for (const Mix &mix : mixes)
      for (TestPlan plan : plans) {
        plan.precision = mix.precision;
        plan.entries = mix.entries;
        cases.push_back({model, plan, mix.name});
      }
  return cases;
}
std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  const TestPlan &plan = info.param.plan;
  return std::string(info.param.model->name) + "_" + info.param.mix + "_dp" + std::to_string(plan.dp) + "_tp" +
         std::to_string(plan.tp) + "_zero" + std::to_string(plan.zero);
}
class Precisions : public ::testing::TestWithParam<Case> {};
} // namespace

TEST_P(Precisions, LossGradientsAndParametersAreThoseOfOneRank) {
  const Case &param = GetParam();
  WorstDifference worst = compareWithOneRank(*param.model, param.plan, 2 * param.plan.dp, 2, 2);
  EXPECT_LE(worst.value, 1e-9) << worst.name;
}
INSTANTIATE_TEST_SUITE_P(Mixes, Precisions, ::testing::ValuesIn(grid()), nameOf);

namespace {
/// Two data-parallel replicas of two shards; an infinite row of the embedding that tokens of the first replica alone
/// use.
struct OverflowOnOneReplica {
  Program program;
  interpreter::LockstepOps ops;
  std::unique_ptr<interpreter::Interpreter> runner;
  interpreter::Batch batch = randomBatch(2, 4, groupedLlama.sequence, groupedLlama.vocabulary - 1, 3);

  explicit OverflowOnOneReplica(llvm::StringRef broken = "") {
    TestPlan plan{2, 2, 1};
    plan.precision = "params f16 compute f16 accumulate f32 master f32";
    plan.entries = "loss_scale dynamic(initial = 2, hysteresis = 1)";
    program = compilePlan(groupedLlama, plan, 4, 2);
    dist::addLockstepCollectives(ops);
    if (!broken.empty())
      ops.add(broken, [](mlir::Operation *, llvm::ArrayRef<const interpreter::PerRank *> from,
                         llvm::MutableArrayRef<interpreter::PerRank> to, const interpreter::RankGrid &) {
        for (auto [x, y] : llvm::zip(from, to))
          y = *x;
        return mlir::success();
      });
    interpreter::RankGrid grid = dist::rankGridOf(*program.module->getOps<dist::MeshOp>().begin());
    runner = std::make_unique<interpreter::Interpreter>(program.step, grid, &ops, dist::slotLayoutOf(grid));
    runner->initialize(3);
    nn::HostTensor table = *runner->state(nn::SlotKind::Param, "embed");
    int64_t width = table.shape[1], last = groupedLlama.vocabulary - 1;
    for (int64_t i = 0; i < width; ++i)
      table[last * width + i] = std::numeric_limits<double>::infinity();
    for (nn::SlotKind kind : {nn::SlotKind::Param, nn::SlotKind::Master}) // one number in two types
      EXPECT_TRUE(runner->setState(kind, "embed", table));
    batch.tokens[0] = static_cast<double>(last); // of the first microbatch's first row: on dp=0
  }
};
} // namespace

// F03: an overflow on the ranks of one replica is known to all; every one skips and lowers its scale from 2 to 1.
// (`state` fails where ranks that hold the same elements differ in a bit.)
TEST(LossScale, F03OverflowOnOneReplicaSkipsOnAllRanks) {
  OverflowOnOneReplica run;
  std::vector<std::pair<nn::SlotKind, std::string>> slots;
  for (const std::string &name : run.runner->parameters())
    for (nn::SlotKind kind : {nn::SlotKind::Param, nn::SlotKind::Master, nn::SlotKind::FirstMoment})
      slots.push_back({kind, name});
  std::vector<nn::HostTensor> before;
  for (auto &[kind, name] : slots)
    before.push_back(*run.runner->state(kind, name));
  auto result = run.runner->train(run.batch);
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ(result->skipped, 1);
  auto scale = run.runner->state(nn::SlotKind::State, "loss_scale");
  ASSERT_TRUE(mlir::succeeded(scale));
  EXPECT_EQ((*scale)[0], 1);
  for (auto [slot, old] : llvm::zip(slots, before)) {
    auto now = run.runner->state(slot.first, slot.second);
    ASSERT_TRUE(mlir::succeeded(now)) << slot.second;
    EXPECT_EQ(now->data, old.data) << slot.second;
  }
}
// The premise: were nothing reduced, one replica would skip and the other not.
TEST(LossScale, F03WithoutTheReductionRanksWouldDisagree) {
  OverflowOnOneReplica run("dist.all_reduce");
  mlir::ScopedDiagnosticHandler quiet(run.program.context.get(), [](mlir::Diagnostic &) { return mlir::success(); });
  (void)run.runner->train(run.batch);
  EXPECT_TRUE(mlir::failed(run.runner->state(nn::SlotKind::State, "loss_scale")));
}
