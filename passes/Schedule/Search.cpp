// A grid of orders, each filled and timed; the best ones and the named ones are assembled and simulated.
#include "passes/Schedule/Search.h"

#include "passes/Schedule/FillWeightGrads.h"
#include "passes/Schedule/Simulator.h"
#include "passes/Schedule/Solvers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hocket::schedule {
namespace {

/// How many forwards ahead of its backwards a stage runs: from `start` to `end` for each stage that lies behind it,
/// changing between two microbatches.
struct Profile {
  double start, end, from, to; ///< from, to: shares of m
  double patience;
};

uint32_t aheadAt(const Profile &profile, const Problem &problem, uint32_t stage, uint32_t microbatch) {
  double m = problem.microbatches, from = profile.from * m, to = profile.to * m;
  double x = to > from ? std::clamp((microbatch - from) / (to - from), 0.0, 1.0) : 1;
  double ahead = (problem.stages - 1 - stage) * (profile.start + (profile.end - profile.start) * x);
  return uint32_t(std::ceil(ahead - 1e-9));
}

Orders ordersOf(const Profile &profile, const Problem &problem, uint32_t mostAhead) {
  Orders orders(problem.stages);
  for (uint32_t s = 0; s < problem.stages; ++s) {
    uint32_t forwards = 0;
    for (uint32_t i = 0; i < problem.microbatches; ++i) {
      uint32_t wanted = i + 1 + std::min(aheadAt(profile, problem, s, i), mostAhead);
      while (forwards < std::min(wanted, problem.microbatches))
        orders[s].push_back({BodyKind::Forward, 0, forwards++});
      orders[s].push_back({BodyKind::Backward, 0, i});
    }
  }
  return orders;
}

std::vector<Profile> grid() {
  std::vector<Profile> profiles;
  constexpr std::pair<double, double> changes[] = {{0, 1}, {0, 0.5}, {0.5, 1}, {0, 0.75}, {0.25, 0.75}, {0.25, 1}};
  for (double patience : {0.5, 1.0, 0.25, 0.75})
    for (double start = 1; start <= 2.5; start += 0.125)
      for (double end = 0.75; end <= start; end += 0.125)
        for (auto [from, to] : changes)
          if (start != end || (from == 0 && to == 1))
            profiles.push_back({start, end, from, to, patience});
  return profiles;
}

/// Every k-th profile, so that the whole takes about a tenth of a second.
std::vector<Profile> thinned(const Problem &problem) {
  std::vector<Profile> all = grid();
  double bodies = 3.0 * problem.stages * problem.microbatches;
  double cost = bodies * (problem.stages + 50); // in about a nanosecond
  size_t wanted = std::clamp<size_t>(size_t(1e8 / cost), 8, all.size());
  std::vector<Profile> some;
  for (size_t i = 0; i < wanted; ++i)
    some.push_back(all[i * all.size() / wanted]);
  return some;
}

/// Most that a stage holds at once in this order.
double mostHeld(const Problem &problem, const std::vector<Step> &order) {
  double held = 0, most = 0, rest = problem.heldForWeightGrad;
  for (const Step &step : order) {
    held += step.kind == BodyKind::Forward ? 1 : step.kind == BodyKind::Backward ? rest - 1 : -rest;
    most = std::max(most, held);
  }
  return most;
}

bool fits(const Problem &problem, const Orders &orders, double capacity) {
  return std::all_of(orders.begin(), orders.end(),
                     [&](const std::vector<Step> &order) { return mostHeld(problem, order) <= capacity + 1e-6; });
}

/// Time of the assembled tables, nothing where they cannot be made.
std::optional<double> timeOf(const Problem &problem, const Orders &orders, Goal goal) {
  Faults ignored;
  std::optional<Tables> tables = assemble(problem, orders, ignored);
  std::optional<Simulation> simulation = tables ? simulate(problem, *tables, {}, ignored) : std::nullopt;
  if (!simulation)
    return std::nullopt;
  return goal == Goal::Span ? simulation->stageSpan : simulation->makespan;
}

} // namespace

std::optional<Orders> searchOrders(const Problem &problem, double capacity, Goal goal, Faults &faults) {
  std::vector<std::pair<double, Orders>> candidates;
  for (const Profile &profile : thinned(problem)) {
    uint32_t mostAhead = uint32_t(std::max(1.0, std::floor(capacity))) - 1;
    std::optional<Filled> filled =
        fillWeightGrads(problem, ordersOf(profile, problem, mostAhead), {capacity, profile.patience});
    if (!filled)
      continue;
    candidates.push_back({goal == Goal::Span ? filled->stageSpan : filled->makespan, std::move(filled->orders)});
    constexpr size_t kept = 6;
    std::sort(candidates.begin(), candidates.end(), [](auto &a, auto &b) { return a.first < b.first; });
    if (candidates.size() > kept)
      candidates.pop_back();
  }
  for (auto named : {orderOneFOneB, orderZbH1, orderZbH2, orderGPipe})
    if (std::optional<Orders> orders = named(problem, faults); orders && fits(problem, *orders, capacity))
      candidates.push_back({0, std::move(*orders)});
  std::optional<Orders> best;
  double bestTime = 0;
  for (auto &[estimate, orders] : candidates)
    if (std::optional<double> time = timeOf(problem, orders, goal); time && (!best || *time < bestTime)) {
      bestTime = *time;
      best = std::move(orders);
    }
  if (!best)
    faults.push_back({fmt::format("no order of {} stages fits into the memory of {} microbatches a stage; legal: at "
                                  "least 1, and with {} every 1f1b order",
                                  problem.stages, capacity, std::min(problem.stages, problem.microbatches)),
                      {}});
  return best;
}

} // namespace hocket::schedule
