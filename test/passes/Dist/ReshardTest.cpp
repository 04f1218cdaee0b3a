// Which collectives a reshard takes.
#include "passes/Dist/Reshard.h"
#include "mlir/IR/Builders.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::dist;

namespace {
class ReshardTest : public ::testing::Test {
protected:
  ReshardTest() {
    context.loadDialect<DistDialect>();
    mlir::OpBuilder builder(&context);
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    mlir::Attribute axes[] = {MeshAxisAttr::get(&context, "dp", 2), MeshAxisAttr::get(&context, "tp", 4)};
    mesh = MeshOp::create(builder, builder.getUnknownLoc(), "mesh", builder.getArrayAttr(axes));
    AxisRef half{mlir::StringAttr::get(&context, "tp"), 1, 2};
    atoms.emplace(*AxisAtoms::create(mesh, half, mesh)); // atoms: 0 dp, 1 tp:(1)2, 2 tp:(2)2
  }
  /// `all_reduce {0}; slice 1 {1}`: kind, dimensions, atoms.
  std::string plan(llvm::ArrayRef<int64_t> shape, const Spread &from, const Spread &to) {
    static const char *const names[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "slice"};
    auto type = mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context));
    auto steps = planReshard(*atoms, type, from, to);
    if (failed(steps))
      return "none";
    std::string text;
    for (const ReshardStep &step : *steps) {
      text += (text.empty() ? "" : "; ") + std::string(names[static_cast<int>(step.kind)]);
      for (int dim : {step.dim, step.gatherDim})
        text += dim < 0 ? "" : " " + std::to_string(dim);
      text += " " + axesText(atoms->toRefs(step.axes));
    }
    return text;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MeshOp mesh;
  std::optional<AxisAtoms> atoms;
};
const Atoms none, dp{0}, tpMajor{1}, tpMinor{2}, tp{1, 2};
} // namespace

TEST_F(ReshardTest, PartialToWhole) { EXPECT_EQ(plan({8}, {{none}, tp}, {{none}, {}}), "all_reduce {\"tp\"}"); }
TEST_F(ReshardTest, PartialToSplit) { EXPECT_EQ(plan({8}, {{none}, dp}, {{dp}, {}}), "reduce_scatter 0 {\"dp\"}"); }
TEST_F(ReshardTest, SplitToWhole) { EXPECT_EQ(plan({8}, {{tp}, {}}, {{none}, {}}), "all_gather 0 {\"tp\"}"); }
TEST_F(ReshardTest, WholeToSplit) { EXPECT_EQ(plan({8}, {{none}, {}}, {{tp}, {}}), "slice 0 {\"tp\"}"); }
TEST_F(ReshardTest, SplitToOtherDimension) {
  EXPECT_EQ(plan({8, 8}, {{tp, none}, {}}, {{none, tp}, {}}), "all_to_all 1 0 {\"tp\"}");
}
TEST_F(ReshardTest, NothingToDo) { EXPECT_EQ(plan({8}, {{tp}, dp}, {{tp}, dp}), ""); }
TEST_F(ReshardTest, OneOfTwoPartialAxes) {
  EXPECT_EQ(plan({8}, {{none}, {0, 1, 2}}, {{none}, dp}), "all_reduce {\"tp\"}");
}
// The value is cut before it is joined over what is left.
TEST_F(ReshardTest, ScatterOverOneAxisAndReduceOverAnother) {
  EXPECT_EQ(plan({8}, {{none}, {0, 1, 2}}, {{dp}, {}}), "reduce_scatter 0 {\"dp\"}; all_reduce {\"tp\"}");
}
TEST_F(ReshardTest, SliceBeforeGather) {
  EXPECT_EQ(plan({8, 8}, {{dp, none}, {}}, {{none, tp}, {}}), "slice 1 {\"tp\"}; all_gather 0 {\"dp\"}");
}
TEST_F(ReshardTest, HalfOfAnAxisIsGatheredWhereShardsNest) {
  EXPECT_EQ(plan({8}, {{tp}, {}}, {{tpMajor}, {}}), "all_gather 0 {\"tp\":(2)2}");
}
// 10 over 4 is 3 3 3 1, over 2 it is 5 5: no shard of one lies inside a shard of the other.
TEST_F(ReshardTest, UnevenShardsThatDoNotNestGoThroughTheWhole) {
  EXPECT_EQ(plan({10}, {{tp}, {}}, {{tpMajor}, {}}), "all_gather 0 {\"tp\"}; slice 0 {\"tp\":(1)2}");
  EXPECT_EQ(plan({10}, {{tpMajor}, {}}, {{tp}, {}}), "all_gather 0 {\"tp\":(1)2}; slice 0 {\"tp\"}");
}
TEST_F(ReshardTest, WholeIsNeverMadePartial) { EXPECT_EQ(plan({8}, {{none}, {}}, {{none}, dp}), "none"); }
TEST_F(ReshardTest, NeighbouringAtomsAreOneAxis) {
  EXPECT_EQ(axesText(atoms->toRefs({0, 1, 2})), "{\"dp\", \"tp\"}");
  EXPECT_EQ(axesText(atoms->toRefs({2, 1})), "{\"tp\":(2)2, \"tp\":(1)2}");
  EXPECT_THAT(atoms->fromRefs(AxisRef{mlir::StringAttr::get(&context, "tp")}), ::testing::ElementsAre(1, 2));
}
// Experts go back from {dp, tp} to their batch's dp: what nobody else wants is gathered first.
TEST_F(ReshardTest, PartOfASplitGoesToAnotherDimension) {
  EXPECT_EQ(plan({8, 8}, {{{0, 1, 2}, none}, {}}, {{none, dp}, {}}), "all_gather 0 {\"tp\"}; all_to_all 1 0 {\"dp\"}");
}
