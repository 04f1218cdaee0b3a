// `split auto`: the forms it finds, that names do not matter, that a short step costs what the long one does, and that
// the search finds what pricing every form finds.
#include "passes/Dist/AutoSplit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Dist/Passes.h"
#include "passes/NN/Passes.h"
#include "test/passes/Dist/AutoSplitModels.h"
#include "test/passes/Interpreter/TinyModels.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::dist;
using namespace hocket::testing;
using ::testing::UnorderedElementsAreArray;

namespace {
/// A model under a plan with one `split` tactic, as far as its training step: dp of 2, one sequence each, two
/// microbatches.
class Problem {
public:
  explicit Problem(const std::string &model, int64_t tp = 2, const std::string &tactics = "split auto over \"tp\"") {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, DistDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
    std::string text = recipeFor(model, 4) + "dist.mesh @mesh<\"dp\"=2, \"tp\"=" + std::to_string(tp) +
                       ">\ndist.plan @plan for @model on @mesh {\n  batch over \"dp\" microbatch 1 sequences\n  " +
                       tactics + "\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    mlir::PassManager manager(&context);
    nn::BuildTrainingStepPassOptions options;
    options.plan = "plan";
    options.rows = 2;
    options.microbatches = 2;
    nn::buildNNPipeline(manager, options);
    if (module && succeeded(manager.run(*module)))
      step = *module->getOps<nn::TrainingStepOp>().begin();
  }

  PlanOp plan() { return *module->getOps<PlanOp>().begin(); }
  MeshOp mesh() { return *module->getOps<MeshOp>().begin(); }
  SplitOp tactic() { return *plan().getBody().front().getOps<SplitOp>().begin(); }

  AutoSplit search(const AutoSplitOptions &options = {}) {
    graph.emplace(*StepGraph::create(step));
    classes.emplace(*graph);
    return findAutoSplit(step, plan(), mesh(), *classes, tactic(), {}, options);
  }
  /// Of the best form, layers as `*`.
  std::vector<std::string> tactics(const AutoSplitOptions &options = {}) {
    AutoSplit found = search(options);
    return found.forms.empty() ? std::vector<std::string>{"no form"} : texts(found.splitsOf(found.forms.front()));
  }
  std::vector<std::string> megatron() {
    StepGraph its = *StepGraph::create(step);
    DimensionClasses itsClasses(its);
    return texts(*megatronSplits(itsClasses, tactic(), mesh()));
  }
  static std::vector<std::string> texts(llvm::ArrayRef<ExplicitSplit> splits) {
    auto list = explicitTactics(splits);
    return {list.begin(), list.end()};
  }

  /// The whole step under its plan, no layer left out.
  std::optional<StepCost> fullCost() {
    ShortStep whole = ShortStep::of(step, plan(), mesh(), /*shorten=*/false);
    mlir::OwningOpRef<mlir::ModuleOp> copy(whole.getModule().clone());
    return local(*copy) ? std::optional(costOf(*copy->getOps<nn::TrainingStepOp>().begin(), mesh(), whole, {}))
                        : std::nullopt;
  }
  std::optional<StepCost> shortCost() {
    ShortStep shorter = ShortStep::of(step, plan(), mesh());
    mlir::OwningOpRef<mlir::ModuleOp> copy(shorter.getModule().clone());
    return local(*copy) ? std::optional(costOf(*copy->getOps<nn::TrainingStepOp>().begin(), mesh(), shorter, {}))
                        : std::nullopt;
  }
  bool local(mlir::ModuleOp copy) {
    mlir::PassManager manager(&context);
    manager.enableVerifier(false);
    buildDistPipeline(manager);
    return succeeded(manager.run(copy));
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  nn::TrainingStepOp step;
  std::optional<StepGraph> graph;
  std::optional<DimensionClasses> classes;
};
} // namespace

TEST(AutoSplit, GptIsMegatron) {
  Problem problem(gptText({}));
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics(), UnorderedElementsAreArray(problem.megatron()));
  EXPECT_EQ(problem.megatron().size(), 7u); // wte; qkv and proj, fc and proj, biases of qkv and fc
}

TEST(AutoSplit, GptIsMegatronOnAccelerators) {
  Problem problem(gptText({.hidden = 4096,
                           .heads = 32,
                           .kvHeads = 32,
                           .headSize = 128,
                           .feedForward = 16384,
                           .vocabulary = 51200,
                           .sequence = 2048}),
                  8);
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics({.machine = Machine::gpu()}), UnorderedElementsAreArray(problem.megatron()));
}

TEST(AutoSplit, LlamaIsMegatron) {
  Problem problem(llamaText({.kvHeads = 4}), 4);
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics(), UnorderedElementsAreArray(problem.megatron()));
}

TEST(AutoSplit, MoreRanksThanKvHeads) {
  Problem problem(llamaText({.kvHeads = 2}), 4);
  ASSERT_TRUE(problem.step);
  std::vector<std::string> found = problem.tactics();
  EXPECT_THAT(found, UnorderedElementsAreArray(problem.megatron()));
  EXPECT_THAT(found, ::testing::Contains("split \"layers.*.attn.kv.weight\" dim 2 over {\"tp\":(1)2}"));
  EXPECT_THAT(found, ::testing::Contains("split \"layers.*.attn.q.weight\" dim 2 over {\"tp\":(2)2}"));
}

TEST(AutoSplit, NoAttention) {
  Problem problem(mlpText({}));
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics(),
              UnorderedElementsAreArray({"split \"table\" dim 0 over \"tp\"", "split \"block.*.a\" dim 1 over \"tp\"",
                                         "split \"block.*.b\" dim 0 over \"tp\"", "split \"head\" dim 1 over \"tp\""}));
}

// The same form whatever parameters are called, however layers are written, and whichever way weights lie.
TEST(AutoSplit, NamesDoNotMatter) {
  Problem problem(gptText({}, {.plainNames = false, .numbered = false, .transposed = true}));
  ASSERT_TRUE(problem.step);
  std::vector<std::string> expected = {"split \"table\" dim 0 over \"tp\""};
  for (const char *layer : {"first.", "second."})
    for (const char *rest : {"q.weight\" dim 2", "q.bias\" dim 1", "r.weight\" dim 0", "t.weight\" dim 0",
                             "t.bias\" dim 0", "u.weight\" dim 1"})
      expected.push_back("split \"" + std::string(layer) + rest + " over \"tp\"");
  EXPECT_THAT(problem.tactics(), UnorderedElementsAreArray(expected));
}

TEST(AutoSplit, LayersAreDecidedOnce) {
  for (bool numbered : {true, false}) {
    Problem problem(gptText({.layers = 4}, {.numbered = numbered}));
    ASSERT_TRUE(problem.step);
    EXPECT_EQ(problem.search().choices.size(), 3u) << "vocabulary, heads, feed-forward";
  }
}

// A hidden size at which a sum costs more than the work it saves, and a vocabulary for which it does not.
TEST(AutoSplit, TinyHiddenAndHugeVocabulary) {
  Problem problem(gptText(
      {.hidden = 8, .heads = 4, .kvHeads = 4, .headSize = 2, .feedForward = 32, .vocabulary = 50000, .sequence = 64}));
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics(), UnorderedElementsAreArray({"split \"wte\" dim 0 over \"tp\""}));
}

TEST(AutoSplit, NothingPaysInATinyModel) {
  Problem problem(gptText(
      {.hidden = 8, .heads = 4, .kvHeads = 4, .headSize = 2, .feedForward = 32, .vocabulary = 64, .sequence = 4}));
  ASSERT_TRUE(problem.step);
  EXPECT_THAT(problem.tactics(), ::testing::IsEmpty());
}

// Every form is priced against the descent, on models of many shapes.
TEST(AutoSplit, SearchFindsWhatPricingEveryFormFinds) {
  int different = 0;
  for (int64_t hidden : {16, 64, 256})
    for (int64_t vocabulary : {64, 20000})
      for (int64_t sequence : {4, 128}) {
        ModelSizes sizes{.layers = 2,
                         .hidden = hidden,
                         .heads = 8,
                         .kvHeads = 4,
                         .headSize = hidden / 8,
                         .feedForward = 4 * hidden,
                         .vocabulary = vocabulary,
                         .sequence = sequence};
        Problem all(llamaText(sizes), 4), some(llamaText(sizes), 4);
        ASSERT_TRUE(all.step && some.step);
        AutoSplit every = all.search({.exhaustive = 1 << 20}), descent = some.search({.exhaustive = 0});
        ASSERT_FALSE(every.forms.empty() || descent.forms.empty());
        EXPECT_EQ(every.forms.size(), 24u); // table, head, feed-forward: 2 each; heads: whole, 4 x 1, 2 x 2
        EXPECT_EQ(every.forms.front().options, descent.forms.front().options)
            << hidden << ' ' << vocabulary << ' ' << sequence;
        for (const SplitForm &form : every.forms)
          EXPECT_GE(form.cost.seconds() * 1.001, every.forms.front().cost.seconds());
        different += every.forms.front().options != llvm::SmallVector<int>(every.choices.size(), 1);
      }
  EXPECT_GT(different, 0); // or only one answer was ever asked for
}

// What a layer adds is what it adds in the long step: cost, bytes on the wire and at rest.
TEST(AutoSplit, AShortStepCostsWhatTheLongOneDoes) {
  for (const char *tactics : {"split megatron over \"tp\"", "split \"wte\" dim 0 over \"tp\"",
                              "split megatron over \"tp\"\n  zero 1 over \"dp\""}) {
    Problem problem(gptText({.layers = 7}), 4, tactics);
    ASSERT_TRUE(problem.step);
    std::optional<StepCost> whole = problem.fullCost(), part = problem.shortCost();
    ASSERT_TRUE(whole && part);
    EXPECT_NEAR(part->seconds() / whole->seconds(), 1, 1e-3) << tactics; // the norm of gradients sees fewer numbers
    EXPECT_NEAR(part->wireBytes / whole->wireBytes, 1, 1e-4) << tactics;
    EXPECT_NEAR(part->flops / whole->flops, 1, 1e-4) << tactics;
    EXPECT_EQ(part->restBytes, whole->restBytes) << tactics;
  }
}

// Megatron's layer: two sums of b s h forward and two backward, each sent 2(n-1)/n times (Shoeybi et al. 2019, section
// 3).
TEST(AutoSplit, ALayerSendsFourSums) {
  auto sent = [](int64_t layers) {
    Problem problem(gptText({.layers = layers}), 4, "split megatron over \"tp\"");
    return problem.fullCost()->wireByKind["all_reduce f32 over tp"];
  };
  double sum = 1.0 * 64 * 256 * 4; // one sequence, in f32
  double squares = 6.0 * 4;        // in update, of the four weights and two biases that are split
  EXPECT_DOUBLE_EQ(sent(3) - sent(2), (2 * 4 * sum + squares) * 2 * 3 / 4);
  Problem problem(gptText({}), 4, "split megatron over \"tp\"");
  StepCost cost = *problem.fullCost();
  // Backward: two layers' sums, and that of the head; forward has the embedding's instead, and three numbers a token of
  // the loss.
  EXPECT_DOUBLE_EQ(cost.wireByPhase["backward"], 2 * (2 * 2 + 1) * sum * 2 * 3 / 4);
  EXPECT_DOUBLE_EQ(cost.wireByPhase["forward"], cost.wireByPhase["backward"] + 2 * 3 * (64.0 * 4) * 2 * 3 / 4);
}

TEST(AutoSplit, EarlierTacticsStand) {
  Problem problem(gptText({}), 2, "split \"h.*.mlp.fc.weight\" dim 1 over \"tp\"\n  split auto over \"tp\"");
  ASSERT_TRUE(problem.step);
  ASSERT_TRUE(problem.local(*problem.module));
  std::vector<std::string> written;
  for (auto split : problem.plan().getBody().front().getOps<SplitOp>())
    written.push_back(split.getPattern()->str() + " " + std::to_string(*split.getDim()));
  EXPECT_THAT(written, UnorderedElementsAreArray({"h.*.mlp.fc.weight 1", "wte 0", "h.*.attn.qkv.weight 2",
                                                  "h.*.attn.qkv.bias 1", "h.*.attn.proj.weight 0"}));
}
