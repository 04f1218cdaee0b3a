// Layers over stages.
#pragma once

#include "passes/Schedule/Fault.h"

#include <cstdint>
#include <optional>

namespace hocket::schedule {

/// How many layers each stage holds: sizes differ by at most one, longer stages first, and add up to `layers`.
///   evenStages(30, 4) = 8 8 7 7     evenStages(7, 2) = 4 3     evenStages(6, 9): "stages 9 exceed layers 6;
///   legal: 1..6"
std::optional<std::vector<uint32_t>> evenStages(uint32_t layers, uint32_t stages, Faults &faults);

/// Whether there are layers for all pieces of several chunks a stage: "2 stages of 2 chunks are 4 pieces, which exceed
/// layers 3; legal: 1 stage of 2 chunks, or 2 stages of 1 chunk under a schedule of one".
bool checkPieces(uint32_t layers, uint32_t stages, uint32_t chunks, Faults &faults);

/// Holds given sizes against the model: every layer is on one stage and no stage is empty. Each fault is one sentence
/// with the numbers: "stages hold 11 + 13 = 24 layers, the model has 48; layers 24..47 are on no stage".
bool checkStages(uint32_t layers, const std::vector<uint32_t> &sizes, Faults &faults);

/// The sizes of pieces, each of at least one layer, that make the costliest stage cost least; `places` says on which
/// stage each piece lies (piece k on stage k where every stage has one). Among equals the most even one, and of those
/// longer pieces first: equal costs give evenStages. Exact for one piece a stage (dynamic programming over cuts,
/// layers^2 * pieces); for several, the exact answer of a chain of pieces is improved until no move of one layer from a
/// piece to another helps.
///   costs 3 1 1 3, 2 stages: 2 2      costs 5 1 1 1 1, 2 stages: 1 4
std::optional<std::vector<uint32_t>> balancedStages(const std::vector<double> &costs,
                                                    const std::vector<uint32_t> &places, Faults &faults);

} // namespace hocket::schedule
