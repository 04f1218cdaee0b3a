// Path, phase and shardings as C++ sees them, and the small host tensor.
#include "dialect/NN/NN.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket::nn;

namespace {
class Placements : public testing::Test {
protected:
  Placements() {
    context.loadDialect<NNDialect>();
    module = parseSourceString<ModuleOp>(R"(
      nn.block @b(%q: tensor<2x4x2x8xf32>, %pos: tensor<2x4xi32>) -> tensor<2x4x2x8xf32> {
        %y, %lse = attention %q, %q, %q at %pos, %pos causal scale(1) : tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>,
          tensor<2x4x2x8xf32>, tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x4x2x8xf32>, tensor<2x4x2xf32>
        return %y : tensor<2x4x2x8xf32>
      })",
                                         &context);
    module->walk([&](AttentionOp found) { op = found; });
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Operation *op = nullptr;
};
} // namespace

TEST_F(Placements, AreNothingAtFirst) {
  EXPECT_EQ(getPath(op), "");
  EXPECT_EQ(getPhase(op), Phase::Forward);
  EXPECT_FALSE(getSharding(op->getResult(0)));
  EXPECT_EQ(resultElements(op), 2 * 4 * 2 * 8 + 2 * 4 * 2);
}

TEST_F(Placements, AreInherent) {
  setPath(op, "h.3.attn");
  setPhase(op, Phase::Backward);
  Attribute mark = StringAttr::get(&context, "a sharding");
  setShardings(op, {Attribute(), mark});
  EXPECT_EQ(getPath(op), "h.3.attn");
  EXPECT_EQ(getPhase(op), Phase::Backward);
  EXPECT_FALSE(getSharding(op->getResult(0)));
  EXPECT_EQ(getSharding(op->getResult(1)), mark);
  EXPECT_TRUE(op->getDiscardableAttrs().empty());
  setShardings(op, {Attribute(), Attribute()});
  setPath(op, "");
  EXPECT_FALSE(op->getAttr("shardings"));
  EXPECT_FALSE(op->getAttr("path"));
}

TEST(HostTensors, CountTheirElements) {
  HostTensor tensor({2, 3, 4}, 7);
  EXPECT_EQ(tensor.size(), 24);
  EXPECT_EQ(tensor.rank(), 3);
  EXPECT_EQ(tensor.extent(1, 3), 12);
  EXPECT_EQ(tensor.extent(1, 1), 1);
  EXPECT_EQ(tensor[23], 7);
  EXPECT_EQ(HostTensor(llvm::ArrayRef<int64_t>()).size(), 1);
  EXPECT_EQ(HostTensor({0, 5}).size(), 0);
}
