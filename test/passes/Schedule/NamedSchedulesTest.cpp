// The closed forms of the papers, schedule by schedule: time lost with given durations, and microbatches in flight.
#include "ScheduleTesting.h"
#include "passes/Schedule/Search.h"
#include "passes/Schedule/Simulator.h"

#include <algorithm>
#include <map>

namespace hocket::schedule {
namespace {

struct Outcome {
  double lostOfMakespan, lostOfSpan; ///< time beyond what a stage is busy
  uint32_t inFlight;                 ///< most of any stage
  uint32_t slots;                    ///< likewise
};

Outcome outcomeOf(const std::string &name, Problem problem) {
  problem = adopted(name, problem);
  Tables tables = solved(name, problem);
  Faults faults;
  std::optional<Simulation> simulation = simulate(problem, tables, {}, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  if (!simulation)
    return {};
  double ideal = simulation->busy / problem.stages;
  uint32_t slots = 0;
  for (const Table &table : tables.stages)
    slots = std::max(slots, table.slots);
  return {simulation->makespan - ideal, simulation->stageSpan - ideal,
          *std::max_element(simulation->inFlightOfStage.begin(), simulation->inFlightOfStage.end()), slots};
}

Problem timed(uint32_t p, uint32_t m, double forward, double backward, double weightGrad) {
  Problem problem = problemOf(p, m);
  problem.times = {Times{.forward = forward, .backward = backward, .weightGrad = weightGrad}};
  return problem;
}

// (p-1)(T_F + T_B) of a chunk's times, that is 1F1B's bubble divided by v; 2(p-1) + (v-1)p + 1 chunks in flight, since
// p divides m.
TEST(NamedSchedules, InterleavedDividesTheBubble) {
  for (uint32_t p : {2, 3, 4, 8})
    for (uint32_t v : {2, 3, 4})
      for (uint32_t m : {p, 2 * p, 4 * p}) {
        Problem problem = problemOf(p, m);
        problem.chunks = v;
        problem.times = {Times{.backward = 2}};
        Outcome outcome = outcomeOf("interleaved-1f1b", problem);
        EXPECT_DOUBLE_EQ(outcome.lostOfMakespan, (p - 1) * 3) << p << " " << v << " " << m;
        EXPECT_LE(outcome.inFlight, std::min(2 * (p - 1) + (v - 1) * p + 1, v * m) + (p == 2))
            << p << " " << v << " " << m;
      }
}

// Groups of unequal length still run, and never take longer than twice the bubble of equal ones.
TEST(NamedSchedules, InterleavedOfAnyNumberOfMicrobatches) {
  for (uint32_t p : {3, 4, 7})
    for (uint32_t m = p; m < 3 * p; ++m) {
      Problem problem = problemOf(p, m);
      problem.chunks = 3;
      Outcome outcome = outcomeOf("interleaved-1f1b", problem);
      EXPECT_GE(outcome.lostOfMakespan, (p - 1) * 2) << p << " " << m;
      EXPECT_LE(outcome.lostOfMakespan, (p - 1) * 4) << p << " " << m;
    }
}

TEST(NamedSchedules, InterleavedNeedsAsManyMicrobatchesAsStages) {
  Problem problem = problemOf(6, 3);
  problem.chunks = 2;
  EXPECT_EQ(refused("interleaved-1f1b", problem),
            "interleaved-1f1b needs at least as many microbatches as stages: 3 < 6; raise the batch or lower the "
            "microbatch until there are 6, or use 1f1b (bubble 5/8 = 0.625)\n");
  EXPECT_EQ(refused("interleaved-1f1b", problemOf(4, 8)), "interleaved-1f1b with 1 chunk a stage; legal: 2 and more\n");
}

// Qi et al., arXiv 2401.10241, table 1: (p-1)(T_F + T_B - T_W) with p in flight.
TEST(NamedSchedules, ZbH1) {
  for (uint32_t p : {1, 2, 4, 8, 16})
    for (uint32_t m : {p, 2 * p, 4 * p + 1})
      for (auto [f, b, w] : {std::tuple(1.0, 1.0, 1.0), std::tuple(2.0, 2.0, 1.0), std::tuple(3.0, 2.0, 2.0)}) {
        Outcome outcome = outcomeOf("zb-h1", timed(p, m, f, b, w));
        EXPECT_NEAR(outcome.lostOfMakespan, (p - 1) * (f + b - w), 1e-9) << p << " " << m << " " << w;
        EXPECT_EQ(outcome.inFlight, p);
        EXPECT_EQ(outcome.slots, p);
      }
}

// Same table: (p-1)(T_F + T_B - 2 T_W) within a stage's span, with 2p-1 in flight.
TEST(NamedSchedules, ZbH2) {
  for (uint32_t p : {1, 2, 4, 8, 16})
    for (uint32_t m : {2 * p - 1, 2 * p, 4 * p + 1}) {
      Outcome outcome = outcomeOf("zb-h2", timed(p, m, 1, 1, 1));
      EXPECT_EQ(outcome.lostOfSpan, 0) << p << " " << m;
      EXPECT_EQ(outcome.lostOfMakespan, p - 1) << p << " " << m;
      EXPECT_EQ(outcome.inFlight, 2 * p - 1);
    }
}

TEST(NamedSchedules, ZbV) {
  for (uint32_t p : {1, 2, 3, 4, 8, 16})
    for (uint32_t m : {2 * p - 1, 2 * p, 4 * p + 1}) {
      Outcome outcome = outcomeOf("zb-v", problemOf(p, m));
      EXPECT_EQ(outcome.lostOfSpan, 0) << p << " " << m;
      EXPECT_EQ(outcome.lostOfMakespan, p - 1) << p << " " << m;
      EXPECT_LE(outcome.slots, std::min(2 * p + 1, 2 * m + 1)) << p << " " << m;
    }
}

// Half of 1F1B's p microbatches, and one: arXiv 2405.15362, table 2, and half of its time lost, 3(p-1).
TEST(NamedSchedules, VHalf) {
  for (uint32_t p : {4, 6, 7, 8, 12, 16})
    for (uint32_t m : {2 * p, 4 * p}) {
      Outcome outcome = outcomeOf("v-half", problemOf(p, m));
      EXPECT_EQ(outcome.inFlight, 2 * (p / 2 + 1)) << p << " " << m;
      EXPECT_EQ(outcome.lostOfMakespan, 3 * p - 4) << p << " " << m;
    }
}

// A third of 1F1B's memory, two thirds of its time lost, 4(p-1).
TEST(NamedSchedules, VMin) {
  for (uint32_t p : {4, 6, 7, 8, 12, 16})
    for (uint32_t m : {2 * p, 4 * p}) {
      Outcome outcome = outcomeOf("v-min", problemOf(p, m));
      EXPECT_EQ(outcome.inFlight, 2 * ((p + 4) / 3)) << p << " " << m;
      EXPECT_EQ(outcome.lostOfMakespan, p % 3 ? 4 * p - 5 : 4 * p - 3) << p << " " << m;
    }
}

TEST(NamedSchedules, DualPipeV) {
  for (uint32_t p : {2, 3, 4, 8, 16})
    for (uint32_t m : {2 * p, 2 * p + 1, 4 * p}) {
      Outcome outcome = outcomeOf("dualpipe-v", problemOf(p, m));
      EXPECT_EQ(outcome.lostOfMakespan, p - 1) << p << " " << m;
      EXPECT_LE(outcome.inFlight, 2 * p + 2) << p << " " << m;
    }
  EXPECT_EQ(refused("dualpipe-v", problemOf(4, 7)),
            "dualpipe-v needs at least twice as many microbatches as stages: 7 < 8; raise the batch, lower the "
            "microbatch, or use zb-v\n");
}

/// Most (chunk, microbatch) pairs of any stage, from the forward to the end of the last body.
uint32_t fromForwards(const Tables &tables, const Simulation &simulation) {
  int64_t most = 0;
  for (size_t s = 0; s < tables.stages.size(); ++s) {
    std::map<std::pair<uint32_t, uint32_t>, std::pair<double, double>> lives; // chunk, microbatch
    for (size_t i = 0; i < tables.stages[s].rows.size(); ++i) {
      const Row &row = tables.stages[s].rows[i];
      if (row.kind != RowKind::Body || oncePerStep(bodyKind(row)))
        continue;
      double start = simulation.start[s][i], end = simulation.end[s][i];
      auto &life = lives.try_emplace({bodyChunk(row), row.microbatch}, start, end).first->second;
      life = {std::min(life.first, start), std::max(life.second, end)};
    }
    std::multimap<double, int> changes; // at equal times ends come first, being entered first
    for (auto &[key, life] : lives)
      changes.emplace(life.second, -1);
    for (auto &[key, life] : lives)
      changes.emplace(life.first, 1);
    int64_t now = 0;
    for (auto &[time, change] : changes)
      most = std::max(most, now += change);
  }
  return uint32_t(most);
}

// The table of passes/Schedule/README.md: chunks in flight from their forwards on, and how many more from where
// activations arrive.
TEST(NamedSchedules, InFlightIsTheTableOfTheReadme) {
  using Form = uint32_t (*)(uint32_t p, uint32_t m, uint32_t v);
  struct Entry {
    const char *name;
    Form inFlight, arrived;
  };
  Form none = [](uint32_t, uint32_t, uint32_t) { return 0u; };
  const Entry table[] = {
      {"gpipe", [](uint32_t, uint32_t m, uint32_t) { return m; }, none},
      {"1f1b", [](uint32_t p, uint32_t m, uint32_t) { return std::min(m, p); }, none},
      {"interleaved-1f1b",
       [](uint32_t p, uint32_t m, uint32_t v) {
         uint32_t groups = m / p, longest = (m + groups - 1) / groups;
         return std::min(2 * (p - 1) + (v - 1) * longest + 1, v * m);
       },
       [](uint32_t p, uint32_t m, uint32_t) { return uint32_t(p == 2 && m > 3); }},
      {"zb-h1", [](uint32_t p, uint32_t m, uint32_t) { return std::min(m, p); }, none},
      {"zb-h2", [](uint32_t p, uint32_t m, uint32_t) { return std::min(m, 2 * p - 1); }, none},
      {"zb-1p", [](uint32_t p, uint32_t m, uint32_t) { return std::min(m, p); }, none},
      {"zb-2p", [](uint32_t p, uint32_t m, uint32_t) { return std::min(m, 2 * p); }, none},
      {"zb-v", [](uint32_t p, uint32_t m, uint32_t) { return std::min(2 * m, 2 * p); },
       [](uint32_t p, uint32_t m, uint32_t) { return uint32_t(p > 1 && m > p); }},
      {"v-half", [](uint32_t p, uint32_t m, uint32_t) { return std::min(2 * m, 2 * (p / 2) + 2); }, none},
      {"v-min", [](uint32_t p, uint32_t m, uint32_t) { return std::min(2 * m, 2 * ((p + 4) / 3)); }, none},
      {"dualpipe-v", [](uint32_t p, uint32_t, uint32_t) { return 2 * p + 1; },
       [](uint32_t p, uint32_t, uint32_t) { return uint32_t(p > 1); }},
  };
  ASSERT_EQ(std::size(table), solvers().size());
  for (const Entry &entry : table)
    for (uint32_t p : {1, 2, 3, 4, 5, 8})
      for (uint32_t m : {1u, 2u, 3u, p, p + 1, p + 2, 2 * p - 1, 2 * p, 4 * p, 6 * p + 1})
        for (uint32_t v : {2, 3}) {
          bool interleaved = entry.name == std::string("interleaved-1f1b");
          if ((interleaved && m < p) || (!interleaved && v > 2) ||
              (entry.name == std::string("dualpipe-v") && m < 2 * p))
            continue;
          Problem problem = problemOf(p, m);
          problem.chunks = interleaved ? v : 1;
          problem = adopted(entry.name, problem);
          problem.times = {Times{.backward = problem.splitWeightGrad ? 1.0 : 2.0}};
          Tables tables = solved(entry.name, problem);
          Faults faults;
          std::optional<Simulation> simulation = simulate(problem, tables, {}, faults);
          ASSERT_TRUE(simulation.has_value()) << text(faults);
          uint32_t inFlight = entry.inFlight(p, m, v);
          EXPECT_EQ(fromForwards(tables, *simulation), inFlight) << entry.name << " " << p << " " << m << " " << v;
          EXPECT_EQ(std::ranges::max(simulation->inFlightOfStage), inFlight + entry.arrived(p, m, v))
              << entry.name << " " << p << " " << m << " " << v;
        }
}

TEST(NamedSchedules, SearchNeverLosesToTheNamedOnes) {
  for (uint32_t p : {2, 4, 8})
    for (uint32_t m : {p, 3 * p})
      for (auto [f, b, w] : {std::tuple(1.0, 1.0, 1.0), std::tuple(2.0, 3.0, 1.0), std::tuple(1.0, 2.0, 3.0)})
        for (Goal goal : {Goal::Span, Goal::Makespan}) {
          Problem problem = adopted("zb-2p", timed(p, m, f, b, w));
          Faults faults;
          std::optional<Orders> found = searchOrders(problem, 2.0 * p, goal, faults);
          ASSERT_TRUE(found.has_value()) << text(faults);
          std::optional<Tables> tables = assemble(problem, *found, faults);
          ASSERT_TRUE(tables.has_value()) << text(faults);
          EXPECT_EQ(text(judge(problem, *tables)), "");
          auto timeOf = [&](const Tables &of) {
            Simulation simulation = *simulate(problem, of, {}, faults);
            return goal == Goal::Span ? simulation.stageSpan : simulation.makespan;
          };
          for (const char *name : {"1f1b", "zb-h1", "zb-h2"})
            EXPECT_LE(timeOf(*tables), timeOf(solved(name, problem)) + 1e-9) << name << " " << p << " " << m;
        }
}

} // namespace
} // namespace hocket::schedule
