// Programs that compute the same another way are accepted, and do compute the same.
#include "test/passes/Dist/Judge/Rewrites.h"
#include "test/passes/Dist/Judge/Subject.h"
#include "test/passes/Dist/Judge/Subjects.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket::testing;

namespace {
struct Equivalent {
  const char *name;
  Rewrite rewrite;
  const Case *on;
};
void PrintTo(const Equivalent &equivalent, std::ostream *os) { *os << equivalent.name; }

const Equivalent equivalents[] = {
    {"ScatterAndGather", scatterAndGather, &square},
    {"ReduceAndSlice", reduceAndSlice, &square},
    {"OneAxisAtATime", oneAxisAtATime, &square},
    {"OneValueAtATime", oneValueAtATime, &square},
    {"OnceForEachUse", onceForEachUse, &square},
    {"SliceAndGather", sliceAndGather, &square},
    {"ExchangeOnTheWay", exchangeOnTheWay, &square},
    {"ScatterSummands", scatterSummands, &square},
    {"MaskTwice", maskTwice, &square},
    {"JoinOverOneDevice", joinOverOneDevice, &narrow},
    {"HalvesOfAxis", halvesOfAxis, &wide},
    {"PartialBackwards", partialBackwards, &square},
    {"SplitInHalves", splitInHalves, &wide},
    {"ScatterAxesInTurn", scatterAxesInTurn, &gathered},
    {"GatherAxesInTurn", gatherAxesInTurn, &gathered},
    {"GatherHalves", gatherHalves, &sequenced},
    {"ScatterHalves", scatterHalves, &sequenced},
    {"GatherAndSliceForExchange", gatherAndSliceForExchange, &exchanged},
    {"ExchangeThenGather", exchangeThenGather, &square},
    {"SliceThenExchange", sliceThenExchange, &square},
    {"ScatterOtherThenExchange", scatterOtherThenExchange, &square},
    {"ScatterAndGatherLast", scatterAndGatherLast, &square},
    {"GatherTwice", gatherTwice, &square},
    {"GatherAndSlice", gatherAndSlice, &square},
    {"ComputeOnShards", computeOnShards, &idle},
    {"JoinSummands", joinSummands, &llamaSquare},
    {"TwoValuesAtOnce", twoValuesAtOnce, &llamaIdle},
    {"JoinedAxesBackwards", joinedAxesBackwards, &square},
    {"HalvesOfAxisBackwards", halvesOfAxisBackwards, &wide},
    {"NeighboursSwapped", neighboursSwapped, &square},
    {"MadeAgain", madeAgain, &square},
    {"OffsetForEachUse", offsetForEachUse, &square},
    {"MaskWithoutPadding", maskWithoutPadding, &square},
    {"SplitOverOneDevice", splitOverOneDevice, &narrow},
};
class Equivalents : public ::testing::TestWithParam<Equivalent> {};
} // namespace

// Wherever it fits, all at once.
TEST_P(Equivalents, AcceptedAndAlike) {
  const Equivalent &param = GetParam();
  Subject subject(*param.on->model, param.on->plan);
  ASSERT_TRUE(subject.compiled());
  OwningOpRef<ModuleOp> module = subject.copy();
  int changed = 0;
  for (Operation *op : opsOf(*module))
    changed += param.rewrite(op);
  EXPECT_GT(changed, 0);
  std::string said;
  EXPECT_TRUE(Subject::accepts(*module, &said)) << said;
  EXPECT_TRUE(subject.runsAlike(*module));
}
INSTANTIATE_TEST_SUITE_P(Rewrites, Equivalents, ::testing::ValuesIn(equivalents),
                         [](const ::testing::TestParamInfo<Equivalent> &info) { return info.param.name; });

// A gradient's join commutes with what is linear in it: the derivative of the norm, and of its gain and bias.
TEST(Equivalents, JoinsMovedPastLinearOps) {
  Subject subject(*square.model, square.plan);
  ASSERT_TRUE(subject.compiled());
  int accepted = 0;
  for (size_t i = 0, count = opsOf(*subject.copy()).size(); i < count; ++i) {
    OwningOpRef<ModuleOp> module = subject.copy();
    if (!movePastFirstUser(opsOf(*module)[i]) || !Subject::accepts(*module))
      continue;
    ++accepted;
    EXPECT_TRUE(subject.runsAlike(*module)) << "op " << i;
  }
  EXPECT_GE(accepted, 4);
}
