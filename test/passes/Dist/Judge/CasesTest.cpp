// Cases that others have met, in numbers: what the wrong program computes, and that the judge refuses it.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "test/passes/Dist/Judge/Subject.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::testing;

namespace {
/// The gradient of a table of four rows over two ranks, each of which has one token: `tail` makes a rank's rows %mine
/// of the summand %all.
std::string embeddingGradient(StringRef tail) {
  return (R"mlir(
nn.model @gpt(%tokens: tensor<?x1xi32>, %next: tensor<?x1xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<4x1xf32> init zeros
  %e = embedding %tokens, %w : tensor<?x1xi32>, tensor<4x1xf32> -> tensor<?x1x1xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x1x1xf32>, tensor<?x1xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
dist.mesh @m<"dp"=2>
#rows = #dist.sharding<@m, [{"dp"}, {}]>
#sum = #dist.sharding<@m, [{}, {}], partial={"dp"}>
#whole = #dist.sharding<@m, [{}, {}]>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot input "tokens" : tensor<1x1xi32> on #dist.shard<tensor<2x1xi32>, #rows>
  slot input "next" : tensor<1x1xi32> on #dist.shard<tensor<2x1xi32>, #rows>
  slot accumulator "w" : tensor<2x1xf32> on #dist.shard<tensor<4x1xf32>, #rows>
} begin {
} microbatch {
  %ids = read input "tokens" : tensor<1x1xi32> on [#dist.shard<tensor<2x1xi32>, #rows>]
  %one = elementwise -> tensor<1x1x1xf32> {
    %c = arith.constant 1.0 : f32
    return %c : f32
  } on [#dist.shard<tensor<2x1x1xf32>, #dist.sharding<@m, [{"dp"}, {}, {}]>>]
  %all = embedding_grad %ids, %one : tensor<1x1xi32>, tensor<1x1x1xf32> -> tensor<4x1xf32> on [#dist.shard<tensor<4x1xf32>, #sum>]
)mlir" + tail +
          R"mlir(
  write accumulator "w", %mine : tensor<2x1xf32> on [#dist.shard<tensor<4x1xf32>, #rows>]
} update {
} evaluate {
}
)mlir")
      .str();
}

struct Outcome {
  std::vector<double> rows;
  std::string said; ///< by the judge; empty if it accepts
};
Outcome run(StringRef tail, double first, double second) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, dist::DistDialect, arith::ArithDialect, math::MathDialect>();
  auto module = parseSourceString<ModuleOp>(embeddingGradient(tail), &context);
  Outcome outcome;
  EXPECT_TRUE(module);
  if (!module)
    return outcome;
  Subject::accepts(*module, &outcome.said);
  interpreter::LockstepOps ops;
  dist::addLockstepCollectives(ops);
  interpreter::RankGrid grid = dist::rankGridOf(*module->getOps<dist::MeshOp>().begin());
  interpreter::Interpreter machine(stepOf(*module), grid, &ops, dist::slotLayoutOf(grid));
  interpreter::Batch batch{nn::HostTensor({1, 2, 1}), nn::HostTensor({1, 2, 1}), {}};
  batch.tokens[0] = first, batch.tokens[1] = second;
  {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    (void)machine.train(batch);
  }
  auto gradient = machine.gradient("w");
  EXPECT_TRUE(succeeded(gradient));
  if (succeeded(gradient))
    outcome.rows = gradient->data;
  return outcome;
}
using Rows = std::vector<double>;

const char *const joined = R"mlir(
  %sum = dist.all_reduce sum %all over "dp" because "gradient" : tensor<4x1xf32> -> tensor<4x1xf32> on [#dist.shard<tensor<4x1xf32>, #whole>]
  %mine = dist.slice %sum dim 0 over "dp" : tensor<4x1xf32> -> tensor<2x1xf32> on [#dist.shard<tensor<4x1xf32>, #rows>])mlir";
const char *const scattered = R"mlir(
  %mine = dist.reduce_scatter sum %all dim 0 over "dp" because "gradient" : tensor<4x1xf32> -> tensor<2x1xf32> on [#dist.shard<tensor<4x1xf32>, #rows>])mlir";
const char *const sliced = R"mlir(
  %part = dist.slice %all dim 0 over "dp" : tensor<4x1xf32> -> tensor<2x1xf32> on [#dist.shard<tensor<4x1xf32>, #rows>]
  %mine = dist.all_reduce sum %part over "dp" because "gradient" : tensor<2x1xf32> -> tensor<2x1xf32> on [#dist.shard<tensor<4x1xf32>, #rows>])mlir";
} // namespace

// Case G01: slicing before joining adds up rows of different numbers.
TEST(Cases, SliceBeforeAllReduce) {
  for (const char *right : {joined, scattered}) {
    Outcome outcome = run(right, 0, 1);
    EXPECT_EQ(outcome.said, "");
    EXPECT_EQ(outcome.rows, Rows({1, 1, 0, 0}));
    EXPECT_EQ(run(right, 0, 2).rows, Rows({1, 0, 1, 0}));
  }
  Outcome wrong = run(sliced, 0, 1);
  EXPECT_EQ(wrong.rows, Rows({1, 0, 1, 0})); // row 1 is lost, and row 2 was never looked up
  EXPECT_EQ(run(sliced, 0, 2).rows, Rows({2, 0, 2, 0}));
  EXPECT_NE(
      wrong.said.find("'dist.slice' op splits operand 0 (%embedding_grad) over {\"dp\"}, over which it is partial; "
                      "summands on other ranks would be lost, so it must be joined before"),
      std::string::npos)
      << wrong.said;
  EXPECT_NE(
      wrong.said.find("'dist.all_reduce' op joins operand 0 (%slice) over {\"dp\"}, which splits its dimension 0; "
                      "ranks along it hold different elements, not summands"),
      std::string::npos)
      << wrong.said;
}
