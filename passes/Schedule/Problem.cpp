// Checks a problem and derives its messages.
#include "passes/Schedule/Problem.h"

#include <cmath>
#include <fmt/format.h>

namespace hocket::schedule {

double Times::of(BodyKind kind) const {
  switch (kind) {
  case BodyKind::Begin:
    return begin;
  case BodyKind::Forward:
  case BodyKind::Evaluate:
    return forward;
  case BodyKind::Backward:
  case BodyKind::FinalBackward:
    return backward;
  case BodyKind::WeightGrad:
  case BodyKind::FinalWeightGrad:
    return weightGrad;
  case BodyKind::Recompute:
    return recompute;
  case BodyKind::Update:
    return update;
  }
  return 0;
}

static void checkTimes(const Problem &problem, Faults &faults) {
  size_t given = problem.times.size();
  if (given != 1 && given != problem.stages && given != problem.virtualStages())
    faults.push_back(
        {fmt::format("times are given for {} stages; legal: one entry for all, or {}{}", given, problem.stages,
                     problem.chunks > 1 ? fmt::format(", or {}", problem.virtualStages()) : ""),
         {}});
  for (const Times &times : problem.times)
    for (double time : {times.forward, times.backward, times.weightGrad, times.recompute, times.begin, times.update,
                        times.communication})
      if (!(time >= 0) || !std::isfinite(time))
        faults.push_back({fmt::format("a duration is {}; legal: finite and not below 0", time), {}});
}

static void checkPlacement(const Problem &problem, Faults &faults) {
  if (problem.placement.empty())
    return;
  if (problem.placement.size() != problem.virtualStages()) {
    faults.push_back({fmt::format("{} chunks are placed; {} stages of {} chunks have {}", problem.placement.size(),
                                  problem.stages, problem.chunks, problem.virtualStages()),
                      {}});
    return;
  }
  std::vector<uint32_t> holder(problem.virtualStages(), ~0u);
  for (uint32_t k = 0; k < problem.virtualStages(); ++k) {
    Place place = problem.placement[k];
    if (place.stage >= problem.stages || place.chunk >= problem.chunks) {
      faults.push_back({fmt::format("virtual stage {} is placed on stage {} chunk {}; stages are 0..{}, chunks 0..{}",
                                    k, place.stage, place.chunk, problem.stages - 1, problem.chunks - 1),
                        {}});
      continue;
    }
    uint32_t &taken = holder[place.stage * problem.chunks + place.chunk];
    if (taken != ~0u)
      faults.push_back({fmt::format("virtual stages {} and {} are both placed on stage {} chunk {}", taken, k,
                                    place.stage, place.chunk),
                        {}});
    taken = k;
  }
}

bool check(const Problem &problem, Faults &faults) {
  size_t before = faults.size();
  struct Size {
    const char *what;
    uint32_t value;
    uint32_t most;
  };
  for (Size size : {Size{"stages", problem.stages, maxVirtualStages}, Size{"chunks", problem.chunks, maxChunks},
                    Size{"microbatches", problem.microbatches, maxMicrobatches}})
    if (size.value < 1 || size.value > size.most)
      faults.push_back({fmt::format("{} is {}; legal: 1..{}", size.what, size.value, size.most), {}});
  if (faults.size() != before)
    return false;
  if (uint64_t(problem.stages) * problem.chunks > maxVirtualStages) {
    faults.push_back({fmt::format("{} stages of {} chunks are {} virtual stages; at most {}", problem.stages,
                                  problem.chunks, uint64_t(problem.stages) * problem.chunks, maxVirtualStages),
                      {}});
    return false;
  }
  uint64_t pairs = uint64_t(problem.virtualStages()) * problem.microbatches;
  if (pairs > maxPairs) {
    faults.push_back({fmt::format("{} virtual stages times {} microbatches are {} bodies of a kind; at most {}",
                                  problem.virtualStages(), problem.microbatches, pairs, maxPairs),
                      {}});
    return false;
  }
  checkTimes(problem, faults);
  if (!(problem.heldForWeightGrad >= 0 && problem.heldForWeightGrad <= 1))
    faults.push_back(
        {fmt::format("the share of a slot held for the weight gradient is {}; legal: 0..1", problem.heldForWeightGrad),
         {}});
  checkPlacement(problem, faults);
  return faults.size() == before;
}

Chains::Chains(const Problem &problem)
    : chunks(problem.chunks), heads(problem.virtualStages()), members(problem.virtualStages()) {
  for (uint32_t k = 0; k < problem.virtualStages(); ++k) {
    Place here = problem.place(k);
    bool handed = k && problem.place(k - 1).stage == here.stage;
    uint16_t first = handed ? head(here.stage, problem.place(k - 1).chunk) : here.chunk;
    heads[here.stage * chunks + here.chunk] = first;
    members[here.stage * chunks + first].push_back(here.chunk);
  }
}

std::vector<Message> messagesOf(const Problem &problem) {
  std::vector<Message> messages;
  for (uint32_t k = 0; k + 1 < problem.virtualStages(); ++k) {
    Place from = problem.place(k), to = problem.place(k + 1);
    if (from.stage == to.stage)
      continue;
    messages.push_back({Values::Activation, from.stage, to.stage, from.chunk, to.chunk});
    if (!problem.evaluate)
      messages.push_back({Values::Gradient, to.stage, from.stage, to.chunk, from.chunk});
  }
  return messages;
}

} // namespace hocket::schedule
