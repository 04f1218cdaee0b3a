// Many stages, chunks and microbatches: an interleaved order of the test's own, assembled and judged.
#include "ScheduleTesting.h"

#include <chrono>
#include <cstdlib>
#include <sys/resource.h>

namespace hocket::schedule {
namespace {

/// Megatron-LM's interleaved 1F1B (arXiv 2104.04473, figure 4, bottom) for m a multiple of p: groups of p microbatches
/// go through the chunks in turn; weight gradients right after their backward.
Orders interleaved(const Problem &problem) {
  uint32_t p = problem.stages, v = problem.chunks, total = problem.microbatches * v;
  Orders orders(p);
  auto step = [&](BodyKind kind, uint32_t k) {
    uint32_t chunk = k % (p * v) / p;
    bool forward = kind == BodyKind::Forward;
    return Step{kind, uint16_t(forward ? chunk : v - 1 - chunk), k / (p * v) * p + k % p};
  };
  for (uint32_t s = 0; s < p; ++s) {
    uint32_t ahead = std::min(total, (p - s - 1) * 2 + (v - 1) * p);
    for (uint32_t k = 0; k < total + ahead; ++k) {
      if (k < total)
        orders[s].push_back(step(BodyKind::Forward, k));
      if (k < ahead)
        continue;
      orders[s].push_back(step(BodyKind::Backward, k - ahead));
      if (problem.splitWeightGrad)
        orders[s].push_back(step(BodyKind::WeightGrad, k - ahead));
    }
  }
  return orders;
}

Problem interleavedProblem(uint32_t p, uint32_t v, uint32_t m) {
  Problem problem = problemOf(p, m);
  problem.chunks = v;
  problem.splitWeightGrad = true;
  return problem;
}

std::string assembleAndJudge(const Problem &problem) {
  Faults faults;
  std::optional<Tables> tables = assemble(problem, interleaved(problem), faults);
  if (!tables)
    return text(faults);
  return text(judge(problem, *tables));
}

TEST(JudgeScale, SmallInterleaved) {
  for (uint32_t p : {3u, 4u, 5u})
    for (uint32_t v : {1u, 2u, 3u})
      for (uint32_t groups : {1u, 2u, 3u})
        EXPECT_EQ(assembleAndJudge(interleavedProblem(p, v, groups * p)), "") << "p=" << p << " v=" << v;
}

// On two stages one directed edge carries activations and gradients. With exactly the slots that the order needs, each
// stage waits for a slot to receive into and, behind it, for the message that would free one; a slot more and it runs.
TEST(JudgeScale, InterleavedOnTwoStagesNeedsASlotAhead) {
  for (uint32_t v : {2u, 3u}) {
    Problem problem = interleavedProblem(2, v, 4);
    EXPECT_THAT(assembleAndJudge(problem),
                testing::StartsWith("deadlock with rendezvous sends: 4 rows wait for each other"));
    problem.receiveAhead = 1;
    EXPECT_EQ(assembleAndJudge(problem), "");
  }
}

TEST(JudgeScale, Interleaved) { EXPECT_EQ(assembleAndJudge(interleavedProblem(16, 4, 128)), ""); }

// 1.6 million bodies and about as many messages. Named Long: runs where HOCKET_LONG is set.
TEST(JudgeScale, LongInterleaved) {
  if (!std::getenv("HOCKET_LONG"))
    GTEST_SKIP() << "long test: set HOCKET_LONG=1";
  Problem problem = interleavedProblem(128, 4, 1024);
  Faults faults;
  std::optional<Tables> tables = assemble(problem, interleaved(problem), faults);
  ASSERT_TRUE(tables.has_value()) << text(faults);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(text(judge(problem, *tables)), "");
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  RecordProperty("seconds", std::to_string(seconds));
  std::printf("judged in %.2f s, peak %.0f MiB\n", seconds, double(usage.ru_maxrss) / 1024);
  EXPECT_LT(seconds, 10);
  EXPECT_LT(usage.ru_maxrss, 2 << 20);
}

} // namespace
} // namespace hocket::schedule
