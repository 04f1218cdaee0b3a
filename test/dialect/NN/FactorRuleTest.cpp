// Factor rules: reading, printing, and the faults that are found.
#include "dialect/NN/NN.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket::nn;

namespace {
class Rules : public testing::Test {
protected:
  Rules() {
    context.loadDialect<NNDialect>();
    context.allowUnregisteredDialects();
    module = parseSourceString<ModuleOp>(R"(
      %x = "t.x"() : () -> tensor<?x128x256xf32>
      %w = "t.w"() : () -> tensor<256x3x8xf32>
      %i = "t.i"() : () -> i64
      %y = "t.linear"(%x, %w) : (tensor<?x128x256xf32>, tensor<256x3x8xf32>) -> tensor<?x128x3x8xf32>
      %s, %c = "t.sum"(%x, %i) : (tensor<?x128x256xf32>, i64) -> (tensor<f32>, i64))",
                                         &context);
    for (Operation &op : module->getBody()->getOperations())
      (op.getName().getStringRef() == "t.linear" ? linear : sum) = &op; // the last one stays: t.sum
  }
  std::string fault(StringRef text) { return checkFactorRule(linear, FactorRule::parse(linear, text)); }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Operation *linear = nullptr, *sum = nullptr;
};
} // namespace

TEST_F(Rules, TakeSizesFromTypes) {
  FactorRule rule = FactorRule::parse(linear, "b s h, h n d -> b s n d");
  ASSERT_EQ(rule.factors.size(), 5u);
  EXPECT_EQ(rule.factors[rule.find("s")].size, 128);
  EXPECT_EQ(rule.factors[rule.find("h")].size, 256);
  EXPECT_TRUE(ShapedType::isDynamic(rule.factors[rule.find("b")].size));
  EXPECT_EQ(rule.find("x"), -1);
  EXPECT_EQ(rule.operands[1], (SmallVector<int>{rule.find("h"), rule.find("n"), rule.find("d")}));
  EXPECT_EQ(rule.linearity, (SmallVector<Linearity>{Linearity::None, Linearity::None}));
  EXPECT_EQ(checkFactorRule(linear, rule), "");
}

TEST_F(Rules, KeepMarksWhereverTheyStand) {
  FactorRule rule = FactorRule::parse(linear, "b s h, !h @n d -> b s n d");
  EXPECT_TRUE(rule.factors[rule.find("h")].whole);
  EXPECT_TRUE(rule.factors[rule.find("n")].needsOffset);
  EXPECT_FALSE(rule.factors[rule.find("d")].whole);
  EXPECT_EQ(rule.str(), "b s !h, !h @n d -> b s @n d");
  EXPECT_EQ(FactorRule::parse(linear, rule.str()).str(), rule.str());
}

TEST_F(Rules, ScalarsHaveNoFactors) {
  FactorRule rule = FactorRule::parse(sum, "b s h, _ -> _, _");
  EXPECT_EQ(checkFactorRule(sum, rule), "");
  EXPECT_TRUE(rule.operands[1].empty());
  EXPECT_EQ(rule.str(), "b s h, _ -> _, _");
}

TEST_F(Rules, AnOpWithoutOperandsHasAnEmptyLeftSide) {
  Operation *x = &module->getBody()->front();
  FactorRule rule = FactorRule::parse(x, "-> b @s h");
  EXPECT_EQ(checkFactorRule(x, rule), "");
  EXPECT_EQ(rule.str(), "-> b @s h");
}

TEST_F(Rules, FaultsAreToldWithNumbers) {
  EXPECT_EQ(fault("b s h -> b s n d"), "factor rule 'b s h -> b s n d' has 1 operand terms, the op has 2 operands");
  EXPECT_EQ(fault("b s h, h n -> b s n d"),
            "factor rule 'b s h, h n -> b s n d' gives operand 1 2 dimensions, it has 3");
  EXPECT_EQ(fault("b s h, h h d -> b s h d"), "factor rule 'b s h, h h d -> b s h d' has 'h' twice in operand 1");
  EXPECT_EQ(fault("b s h, s n d -> b s n d"),
            "factor 's' of 'b s h, s n d -> b s n d' is 128 and, in dimension 0 of operand 1, 256");
  FactorRule rule = FactorRule::parse(linear, "b s h, h n d -> b s n d").linear({Linearity::Multi});
  EXPECT_EQ(checkFactorRule(linear, rule),
            "factor rule 'b s h, h n d -> b s n d' says of 1 operands how it is linear, the op has 2");
}

TEST_F(Rules, BuildersChain) {
  FactorRule rule = FactorRule::parse(linear, "b s h, h n d -> b s n d")
                        .linear({Linearity::Multi, Linearity::Joint})
                        .reducedBy(ReductionKind::Max);
  EXPECT_EQ(rule.linearity[1], Linearity::Joint);
  EXPECT_EQ(rule.reduction, ReductionKind::Max);
  EXPECT_EQ(factorNames("d", 3), "d0 d1 d2");
  EXPECT_EQ(factorNames("d", 3, 1), "d1 d2 d3");
  EXPECT_EQ(factorNames("d", 0), "");
}
