// Judge and memory plan of many stages, chunks and microbatches: a model of one tiny layer a chunk, compiled up to the
// proof of its memory plan, with processor time by pass.
#include "dialect/Step/Step.h"
#include "mlir/Pass/Pass.h"
#include "test/passes/Step/StepPrograms.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <map>
#include <sys/resource.h>

using namespace mlir;
using namespace hocket;
using hocket::test::StepPrograms;

namespace {
const char *const model = R"(
nn.block @layer(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {{
  %w = param "w" : tensor<8x8xf32> init normal(0.02)
  %y = linear %x, %w : tensor<?x4x8xf32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %r = add %x, %y : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return %r : tensor<?x4x8xf32>
}
nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {{
  %e = param "wte" : tensor<16x8xf32> init normal(0.02)
  %x = embedding %t, %e : tensor<?x4xi32>, tensor<16x8xf32> -> tensor<?x4x8xf32>
  %y = repeat @layer(%x) {0} as "h" : tensor<?x4x8xf32>
  %h = param "head" : tensor<8x16xf32> init normal(0.02)
  %l = linear %y, %h : tensor<?x4x8xf32>, tensor<8x16xf32> -> tensor<?x4x16xf32>
  %s, %c = cross_entropy %l, %n : tensor<?x4x16xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
nn.recipe @r for @g {{
  batch {3} sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 1.0
  seed 1
}
dist.mesh @m<"pp"={1}>
dist.plan @p for @g on @m {{
  batch microbatch 1 sequences
  stages over "pp" schedule "interleaved-1f1b" chunks {2}
}
)";

/// Seconds of this process's processor time, by pass.
struct Clock : PassInstrumentation {
  std::map<std::string, double> &seconds;
  double start = 0;

  explicit Clock(std::map<std::string, double> &seconds) : seconds(seconds) {}
  static double now() { return double(std::clock()) / CLOCKS_PER_SEC; }
  void runBeforePass(Pass *, Operation *) override { start = now(); }
  void runAfterPass(Pass *pass, Operation *) override { seconds[pass->getArgument().str()] += now() - start; }
};

struct Compiled {
  std::map<std::string, double> seconds;
  StepPrograms programs;

  Compiled(unsigned stages, unsigned chunks, unsigned microbatches)
      : programs(llvm::formatv(model, stages * chunks, stages, chunks, microbatches).str(), "p", 1, microbatches,
                 std::make_unique<Clock>(seconds)) {}
};

/// Microbatches of a chunk that Megatron-LM's order has in flight on a stage, over all chunks: those ahead of the first
/// backward, and the one that is then made.
unsigned inFlight(unsigned stage, unsigned stages, unsigned chunks) {
  return (stages - stage - 1) * 2 + (chunks - 1) * stages + 1;
}

void expectSlots(ModuleOp module, unsigned stages, unsigned chunks) {
  unsigned found = 0;
  for (auto program : module.getOps<step::ProgramOp>()) {
    ++found;
    EXPECT_GE(program.getSlotCount().value_or(0), inFlight(program.getStage(), stages, chunks));
    EXPECT_LE(program.getSlotCount().value_or(0), inFlight(program.getStage(), stages, chunks) + 1);
  }
  EXPECT_EQ(found, stages);
}

TEST(MemoryPlanScale, Interleaved) {
  Compiled compiled(16, 4, 32);
  ASSERT_TRUE(compiled.programs.module) << compiled.programs.faults;
  expectSlots(*compiled.programs.module, 16, 4);
}

// 1.6 million bodies and about as many messages. Named Long: runs where HOCKET_LONG is set.
TEST(MemoryPlanScale, LongInterleaved) {
  if (!std::getenv("HOCKET_LONG"))
    GTEST_SKIP() << "long test: set HOCKET_LONG=1";
  Compiled compiled(128, 4, 1024);
  ASSERT_TRUE(compiled.programs.module) << compiled.programs.faults;
  expectSlots(*compiled.programs.module, 128, 4);
  double all = 0;
  for (auto &[pass, seconds] : compiled.seconds) {
    std::printf("%6.2f s %s\n", seconds, pass.c_str());
    all += seconds;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  double plan = compiled.seconds["step-plan-memory"], proof = compiled.seconds["step-verify-program"];
  std::printf("planned in %.2f s, judged and proved in %.2f s, of %.2f s; peak %.0f MiB\n", plan, proof, all,
              double(usage.ru_maxrss) / 1024);
  EXPECT_LT(plan + proof, 10); // the proof holds the judge, of both entries
  EXPECT_LT(all, 40);
  EXPECT_LT(usage.ru_maxrss, 2 << 20);
}

} // namespace
