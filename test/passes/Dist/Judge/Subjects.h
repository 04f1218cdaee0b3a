// Models under plans that between them have every collective: what mutants and equivalents are made of.
#pragma once
#include "test/passes/Dist/LocalModels.h"
#include "test/passes/Dist/PlanRuns.h"

namespace hocket::testing {

struct Case {
  const char *name;
  const TestModel *model;
  TestPlan plan;
};
/// gpt and llama with sequences of eight tokens, which context and sequence parallelism can split.
extern const TestModel longerGpt, longerLlama;

TestPlan planOf(int64_t dp, int64_t cp, int64_t tp, int64_t zero, std::string tactics);

/// Vocabulary and feed-forward uneven over tp, optimizer state over dp: masks, offsets, joins of gradients.
extern const Case square, llamaSquare;
extern const Case wide;      ///< tp of 4: halves of an axis
extern const Case idle;      ///< nothing split over tp
extern const Case llamaIdle; ///< optimizer state whole
extern const Case narrow;    ///< dp of one device
extern const Case sequenced; ///< sequence over tp of 4: gathers and scatters of activations
extern const Case gathered;  ///< keys and values gathered over cp; ZeRO over two axes
extern const Case exchanged; ///< heads instead of the sequence, by all_to_all over cp
extern const Case ring;      ///< blocks of keys around a ring
extern const Case experts;   ///< tokens to experts and back
extern const Case scattered; ///< gradients scattered each microbatch
extern const Case perUse;    ///< parameters gathered where they are used, in forward and again in backward
extern const Case byHand;    ///< a manual region with an all_to_all
const std::vector<const Case *> &everyCase();
} // namespace hocket::testing
