// Trains tiny models by reference semantics: whole on one rank, and partitioned under a plan on N ranks in lockstep.
#pragma once
#include "dialect/Dist/Dist.h"
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Interpreter/Comparison.h"
#include "test/passes/Interpreter/TinyModels.h"

namespace hocket::testing {

struct TestModel {
  const char *name;
  const char *text; ///< nn.block and nn.model @model
  int64_t sequence, vocabulary;
};
extern const TestModel fourHeadGpt;  ///< 4 heads, tied embedding, vocabulary 13, feed-forward 10: uneven over 4
extern const TestModel groupedLlama; ///< tinyLlama: 2 KV heads with 2 query heads each, vocabulary 11, untied head

extern const TestModel fourExperts; ///< tinyMoe: 4 experts with feed-forward 6; its recipe needs `capacity 1`

struct TestPlan {
  int64_t dp = 1, tp = 1, zero = 0;
  std::string splits = "split megatron over \"tp\"";               ///< tactics beside batch and zero
  std::string precision = "params f32 compute f32 accumulate f32"; ///< of the recipe
  std::string entries = "";                                        ///< of the recipe, further ones
  int64_t cp = 1;
  std::string zeroOptions = ""; ///< `gather kept`, `bucket 100`
  std::string text() const;
};

/// A step compiled under `plan`, as far as the local program; null, with the fault printed, on failure.
Program compilePlan(const TestModel &model, const TestPlan &plan, int64_t rows, int64_t microbatches,
                    bool local = true);

/// The greatest difference of loss, norm, gradients and parameters between one rank and the plan's ranks after `steps`
/// steps; what differs most is named. Infinite where a run fails.
struct WorstDifference {
  double value = 0;
  std::string name;
};
/// `broken`: an op of the dist dialect that does nothing in this run, to see that the comparison notices.
WorstDifference compareWithOneRank(const TestModel &model, const TestPlan &plan, int64_t rows, int64_t microbatches,
                                   int64_t steps, llvm::StringRef broken = "");
} // namespace hocket::testing
