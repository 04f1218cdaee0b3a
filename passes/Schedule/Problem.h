// A scheduling problem: what has to run where, how long it takes and how much may be in flight. Solvers read it, the
// judge holds their tables against it.
//
// p stages run v chunks each: p*v virtual stages in the order of the model, each placed on one stage. Every microbatch
// runs forward through all of them and backward through all of them in reverse.
#pragma once

#include "passes/Schedule/Fault.h"
#include "passes/Schedule/Table.h"

namespace hocket::schedule {

/// Durations in any one unit. Without a split of weight gradients `backward` is the whole backward and `weightGrad`
/// unused.
struct Times {
  double forward = 1, backward = 1, weightGrad = 1, recompute = 0, begin = 0, update = 0;
  double communication = 0; ///< of one message that leaves the stage

  double of(BodyKind kind) const;
};

/// Most (virtual stage, microbatch) pairs: 128 stages of 4 chunks with 1024 microbatches are a 32nd of it. A table of
/// that many takes about 5 GiB.
inline constexpr uint64_t maxPairs = 1u << 24;
/// Most virtual stages, and so most stages: messages are numbered with 16 bits, and 2 (p*v - 1) of them fit.
inline constexpr uint32_t maxVirtualStages = 32768;
inline constexpr uint32_t maxMicrobatches = maxPairs;

struct Place {
  uint32_t stage = 0;
  uint16_t chunk = 0;
  bool operator==(const Place &) const = default;
};

struct Problem {
  uint32_t stages = 1;       ///< p >= 1
  uint32_t chunks = 1;       ///< v >= 1, per stage
  uint32_t microbatches = 1; ///< m >= 1, also below p
  /// Of a chunk on every stage: one entry for all stages, one for each, or one for each chunk of each (stage * v +
  /// chunk).
  std::vector<Times> times = {Times()};
  /// Most (chunk, microbatch) pairs that a stage may hold in flight, i.e. slots; 0: no bound.
  uint32_t maxInFlight = 0;
  /// Slots beyond what the order of bodies needs: a message may then arrive while the body before it still runs.
  uint32_t receiveAhead = 0;
  bool splitWeightGrad = false;
  /// Share of a slot that is still needed between a backward and its weight gradient, 0..1: of a transformer layer with
  /// stored attention scores about 32 / (34 + 5 a s / h) (Qi et al., arXiv 2401.10241, section 2.3). Searches weigh
  /// their bound with it; slots of tables are held whole.
  double heldForWeightGrad = 1;
  /// The eval entry: Evaluate bodies alone instead of Forward, Backward and WeightGrad.
  bool evaluate = false;
  bool begin = true, update = true; ///< whether the training step has these bodies; `begin` holds for eval too
  /// Whether the eval entry ends with a body of kind Update (its own: it reduces the loss, and updates nothing).
  bool evaluateUpdate = false;
  /// Where each of the p*v virtual stages lies; empty: virtual stage k on stage k mod p as its chunk k / p.
  std::vector<Place> placement;

  const Times &timesOf(uint32_t stage, uint32_t chunk = 0) const {
    return times.size() == 1 ? times[0] : times.size() == stages ? times[stage] : times[stage * chunks + chunk];
  }
  uint32_t virtualStages() const { return stages * chunks; }
  Place place(uint32_t virtualStage) const {
    return placement.empty() ? Place{virtualStage % stages, uint16_t(virtualStage / stages)} : placement[virtualStage];
  }
  bool hasUpdate() const { return evaluate ? evaluateUpdate : update; }
  /// The body that adds weight gradients to the accumulator.
  BodyKind accumulatingBody() const { return splitWeightGrad ? BodyKind::WeightGrad : BodyKind::Backward; }
};

/// Chunks of one stage that follow each other in the model hand their values over in place: for each (chunk,
/// microbatch) of such a chain there is one slot, taken by the first chunk and free after the last body of any. Most
/// chains are one chunk.
struct Chains {
  explicit Chains(const Problem &problem);
  uint16_t head(uint32_t stage, uint32_t chunk) const { return heads[stage * chunks + chunk]; }
  /// The chunks of the chain that `head` begins, in the order of the model.
  const std::vector<uint16_t> &of(uint32_t stage, uint32_t head) const { return members[stage * chunks + head]; }

private:
  uint32_t chunks;
  std::vector<uint16_t> heads;
  std::vector<std::vector<uint16_t>> members;
};

/// Appends what makes a problem impossible to state: a zero, a time below zero, a placement that is no
/// permutation, more than maxPairs.
/// Everything else in this folder may be called only with a problem that passes.
bool check(const Problem &problem, Faults &faults);

/// The messages of a problem: for every pair of neighbouring virtual stages on different stages its activations, then
/// (not under `evaluate`) its gradients.
std::vector<Message> messagesOf(const Problem &problem);

} // namespace hocket::schedule
