// Compiles and runs tiny models under plans.
#include "test/passes/Dist/PlanRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Dist/Passes.h"
#include "passes/NN/Passes.h"
#include <limits>
using namespace mlir;

namespace hocket::testing {

static const char *const gptText = R"mlir(
nn.block @layer(%x: tensor<?x3x8xf32>, %pos: tensor<?x3xi32>) -> tensor<?x3x8xf32> {
  %g1 = param "ln_1.weight" : tensor<8xf32> init ones
  %b1 = param "ln_1.bias" : tensor<8xf32> init normal(0.2)
  %qkv_w = param "attn.qkv.weight" : tensor<8x3x4x2xf32> init normal(0.4)
  %qkv_b = param "attn.qkv.bias" : tensor<3x4x2xf32> init normal(0.2)
  %proj_w = param "attn.proj.weight" : tensor<4x2x8xf32> init normal(0.4)
  %proj_b = param "attn.proj.bias" : tensor<8xf32> init normal(0.2)
  %n1 = layer_norm %x, %g1, %b1 : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x3x8xf32>, tensor<8x3x4x2xf32> -> tensor<?x3x3x4x2xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x3x3x4x2xf32>, tensor<3x4x2xf32> -> tensor<?x3x3x4x2xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x3x3x4x2xf32> -> tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.7) : tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3x4x2xf32>
  %p0 = linear %a, %proj_w : tensor<?x3x4x2xf32>, tensor<4x2x8xf32> -> tensor<?x3x8xf32>
  %p = add %p0, %proj_b : tensor<?x3x8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %r = add %x, %p : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  %g2 = param "ln_2.weight" : tensor<8xf32> init ones
  %b2 = param "ln_2.bias" : tensor<8xf32> init normal(0.2)
  %fc_w = param "mlp.fc.weight" : tensor<8x10xf32> init normal(0.4)
  %fc_b = param "mlp.fc.bias" : tensor<10xf32> init normal(0.2)
  %out_w = param "mlp.proj.weight" : tensor<10x8xf32> init normal(0.4)
  %out_b = param "mlp.proj.bias" : tensor<8xf32> init normal(0.2)
  %n2 = layer_norm %r, %g2, %b2 : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %f0 = linear %n2, %fc_w : tensor<?x3x8xf32>, tensor<8x10xf32> -> tensor<?x3x10xf32>
  %f1 = add %f0, %fc_b : tensor<?x3x10xf32>, tensor<10xf32> -> tensor<?x3x10xf32>
  %f = gelu %f1 : tensor<?x3x10xf32> -> tensor<?x3x10xf32>
  %o0 = linear %f, %out_w : tensor<?x3x10xf32>, tensor<10x8xf32> -> tensor<?x3x8xf32>
  %o = add %o0, %out_b : tensor<?x3x8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %y = add %r, %o : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  return %y : tensor<?x3x8xf32>
}
nn.model @model(%tokens: tensor<?x3xi32>, %next: tensor<?x3xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<13x8xf32> init normal(0.5)
  %wpe = param "wpe" : tensor<3x8xf32> init normal(0.5)
  %pos = positions : tensor<?x3xi32>
  %te = embedding %tokens, %wte : tensor<?x3xi32>, tensor<13x8xf32> -> tensor<?x3x8xf32>
  %pe = embedding %pos, %wpe : tensor<?x3xi32>, tensor<3x8xf32> -> tensor<?x3x8xf32>
  %x = add %te, %pe : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x3x8xf32>, tensor<?x3xi32> -> tensor<?x3x8xf32>
  %g = param "ln_f.weight" : tensor<8xf32> init ones
  %b = param "ln_f.bias" : tensor<8xf32> init normal(0.2)
  %n = layer_norm %y, %g, %b : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %logits = linear transposed %n, %wte : tensor<?x3x8xf32>, tensor<13x8xf32> -> tensor<?x3x13xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x3x13xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";

const TestModel fourHeadGpt{"gpt", gptText, 3, 13};
const TestModel groupedLlama{"llama", tinyLlama, 5, 11};
const TestModel fourExperts{"moe", tinyMoe, 5, 11};

std::string TestPlan::text() const {
  std::string mesh = "dist.mesh @mesh<\"dp\"=" + std::to_string(dp) + (cp > 1 ? ", \"cp\"=" + std::to_string(cp) : "") +
                     ", \"tp\"=" + std::to_string(tp) + ">\n";
  return mesh + "dist.plan @plan for @model on @mesh {\n  batch over \"dp\" microbatch 2 sequences\n  " + splits +
         "\n  zero " + std::to_string(zero) + (cp > 1 ? " over {\"dp\", \"cp\"} " : " over \"dp\" ") + zeroOptions +
         "\n}\n";
}

Program compilePlan(const TestModel &model, const TestPlan &plan, int64_t rows, int64_t microbatches, bool local) {
  Program program;
  program.context = std::make_unique<MLIRContext>();
  program.context->loadDialect<nn::NNDialect, dist::DistDialect, arith::ArithDialect, math::MathDialect>();
  std::string text = recipeFor(model.text, rows * microbatches, plan.entries, plan.precision) + plan.text();
  program.module = parseSourceString<ModuleOp>(text, program.context.get());
  if (!program.module)
    return program;
  PassManager manager(program.context.get());
  nn::BuildTrainingStepPassOptions options;
  options.plan = "plan";
  options.rows = rows;
  options.microbatches = microbatches;
  nn::buildNNPipeline(manager, options);
  if (local)
    dist::buildDistPipeline(manager, {/*stopAfterShardings=*/false, /*zeroWholeBelow=*/0});
  if (succeeded(manager.run(*program.module)))
    program.step = *program.module->getOps<nn::TrainingStepOp>().begin();
  return program;
}

namespace {
struct Worst {
  WorstDifference worst;
  void see(const std::string &name, double value) {
    if (!(value <= worst.value)) // NaN counts as the worst
      worst = {value == value ? value : std::numeric_limits<double>::infinity(), name};
  }
};

LogicalResult passThrough(Operation *, ArrayRef<const interpreter::PerRank *> operands,
                          MutableArrayRef<interpreter::PerRank> results, const interpreter::RankGrid &) {
  for (auto [x, y] : llvm::zip(operands, results))
    y = *x;
  return success();
}
} // namespace

WorstDifference compareWithOneRank(const TestModel &model, const TestPlan &plan, int64_t rows, int64_t microbatches,
                                   int64_t steps, llvm::StringRef broken) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Program whole = compilePlan(model, plan, rows, microbatches, /*local=*/false);
  Program local = compilePlan(model, plan, rows, microbatches);
  if (!whole.step || !local.step)
    return {infinity, "does not compile"};
  interpreter::LockstepOps ops;
  dist::addLockstepCollectives(ops);
  if (!broken.empty())
    ops.add(broken, passThrough);
  interpreter::RankGrid grid = dist::rankGridOf(*local.module->getOps<dist::MeshOp>().begin());
  interpreter::Interpreter one(whole.step), many(local.step, grid, &ops, dist::slotLayoutOf(grid));
  one.initialize(3);
  many.initialize(3);
  Worst worst;
  for (int64_t step = 0; step < steps; ++step) {
    interpreter::Batch batch =
        randomBatch(microbatches, rows, model.sequence, model.vocabulary, static_cast<unsigned>(step));
    auto expected = one.train(batch), found = many.train(batch);
    if (failed(expected) || failed(found))
      return {infinity, "does not run"};
    worst.see("loss", std::abs(found->loss / expected->loss - 1));
    worst.see("gradient norm", std::abs(found->gradNorm / expected->gradNorm - 1));
    worst.see("tokens", std::abs(found->tokens - expected->tokens));
  }
  auto differences = interpreter::compare(one, many);
  if (failed(differences))
    return {infinity, "ranks disagree"};
  // Where the true value is nearly zero (gradients of key biases) the absolute difference counts.
  for (const interpreter::TensorDifference &difference : *differences)
    worst.see(difference.name, std::min(difference.relative, difference.absolute));
  return worst.worst;
}
} // namespace hocket::testing
