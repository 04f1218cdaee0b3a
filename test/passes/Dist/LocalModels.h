// A model of two layers whose feed-forward part is a manual region over "tp" of 2, in several ways; and the plain ones.
#pragma once
#include "test/passes/Dist/PlanRuns.h"

namespace hocket::testing {
extern const TestModel plainBlock;     ///< gelu between two products
extern const TestModel squareBlock;    ///< a square between them
extern const TestModel megatronRegion; ///< as `split megatron` would: columns, then rows, one all_reduce
extern const TestModel openRegion;     ///< the same with the joins left to the partitioner
extern const TestModel sequenceRegion; ///< gathers the sequence before, scatters it behind
extern const TestModel tokensRegion;   ///< tokens split and weights whole; an all_to_all between
extern const TestModel byHandRegion;   ///< as megatronRegion, a square between, its derivative by hand
} // namespace hocket::testing
