// GPipe and 1F1B: bubble and memory against the closed forms; and what all solvers have in common: the timeline in the
// file, the judge over a grid, refusals. (The other schedules' closed forms are in NamedSchedulesTest.cpp; what a wrong
// schedule meets is JudgeTest.cpp.)
#include "ScheduleTesting.h"
#include "passes/Schedule/TableText.h"
#include "passes/Schedule/Timeline.h"

#include <cstdlib>
#include <fstream>
#include <set>

namespace hocket::schedule {
namespace {

/// The timeline that stands in the comment at the head of a solver's file, without "// ".
std::string timelineOf(const std::string &file) {
  std::ifstream in(std::string(HOCKET_SCHEDULE_DIR) + "/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::string timeline;
  for (std::string line; std::getline(in, line) && line.starts_with("//");)
    if (line.starts_with("// time ") || (line.starts_with("// stage ") && std::isdigit(line[9])))
      timeline += line.substr(3) + "\n";
  return timeline;
}

std::string drawn(const std::string &name, const Problem &problem) {
  Faults faults;
  Tables tables = solved(name, problem);
  std::optional<Simulation> simulation = simulate(problem, tables, {}, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  return simulation ? renderTimeline(tables, *simulation) : "";
}

Simulation simulated(const std::string &name, const Problem &problem) {
  Faults faults;
  std::optional<Simulation> simulation = simulate(problem, solved(name, problem), {}, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  return simulation.value_or(Simulation());
}

TEST(Solvers, TimelineInFile) {
  const std::pair<const char *, const char *> files[] = {{"gpipe", "GPipe"},
                                                         {"1f1b", "OneFOneB"},
                                                         {"interleaved-1f1b", "Interleaved"},
                                                         {"zb-h1", "ZbH1"},
                                                         {"zb-h2", "ZbH2"},
                                                         {"zb-1p", "Zb1p"},
                                                         {"zb-2p", "Zb2p"},
                                                         {"zb-v", "ZbV"},
                                                         {"v-half", "VHalf"},
                                                         {"v-min", "VMin"},
                                                         {"dualpipe-v", "DualPipeV"}};
  ASSERT_EQ(std::size(files), solvers().size());
  for (auto [name, file] : files) {
    Problem problem = problemOf(4, 8);
    problem.chunks = std::string(name) == "interleaved-1f1b" ? 2 : 1;
    EXPECT_EQ(drawn(name, adopted(name, problem)), timelineOf(file + std::string(".cpp")));
  }
  Problem eval = problemOf(4, 8);
  eval.evaluate = true;
  EXPECT_EQ(drawn("1f1b", eval), timelineOf("ForwardOnly.cpp"));
}

TEST(Solvers, TimelineOfLongBackwards) {
  Problem problem = problemOf(2, 2);
  problem.times = {Times{.backward = 2}};
  EXPECT_EQ(drawn("1f1b", problem), "time    0  1  2  3  4  5  6  7  8\n"
                                    "stage 0 F0 F1 .  .  B0 == .  B1 ==\n"
                                    "stage 1 .  F0 B0 == F1 B1 == .  .\n");
}

/// p <= 16, m <= 64, v <= 4: every pair of small sizes, and the edges of large ones.
template <typename Visit> void forGrid(const Solver &solver, Visit visit) {
  for (uint32_t p : {1, 2, 3, 4, 7, 16})
    for (uint32_t m : std::set<uint32_t>{1, 3, p, p + 1, 2 * p, 3 * p - 1, 64})
      for (uint32_t v : {1, 2, 3, 4}) {
        bool legal = solver.shape == Shape::OneChunk ? v == 1 : solver.shape == Shape::V ? v == 2 : v >= 2 && m >= p;
        if (legal && (solver.order != orderDualPipeV || m >= 2 * p) && (p < 16 || (m >= 2 * p && v != 3))) {
          Problem problem = problemOf(p, m);
          problem.chunks = v;
          visit(problem);
        }
      }
}

TEST(Solvers, JudgeAcceptsTheGrid) {
  for (const Solver &solver : solvers())
    forGrid(solver, [&](Problem problem) {
      for (int variant = 0; variant < 4; ++variant) {
        Problem given = problem;
        given.splitWeightGrad = variant == 1;
        given.evaluate = variant == 2;
        given.receiveAhead = variant == 3;
        given = adopted(solver.name, given);
        Tables tables = solved(solver.name, given);
        for (Semantics semantics : {Semantics{0}, Semantics{1}})
          ASSERT_EQ(text(judge(given, tables, semantics)), "")
              << solver.name << " p=" << given.stages << " m=" << given.microbatches << " v=" << given.chunks;
      }
    });
}

// Every size of the grid. Named Long: runs where HOCKET_LONG is set; it takes minutes.
TEST(Solvers, LongJudgeAcceptsAll) {
  if (!std::getenv("HOCKET_LONG"))
    GTEST_SKIP() << "long test: set HOCKET_LONG=1";
  size_t judged = 0;
  for (const Solver &solver : solvers())
    for (uint32_t p = 1; p <= 16; ++p)
      for (uint32_t m = 1; m <= 64; ++m)
        for (uint32_t v = 1; v <= 4; ++v) {
          Problem problem = problemOf(p, m);
          problem.chunks = v;
          bool legal = solver.shape == Shape::OneChunk ? v == 1 : solver.shape == Shape::V ? v == 2 : v >= 2 && m >= p;
          if (!legal || (solver.order == orderDualPipeV && m < 2 * p))
            continue;
          problem = adopted(solver.name, problem);
          ASSERT_EQ(text(judge(problem, solved(solver.name, problem))), "")
              << solver.name << " " << p << " " << m << " " << v;
          ++judged;
        }
  std::printf("%zu schedules judged\n", judged);
}

/// Every table that `damage` makes of a schedule's must be rejected; `damage` is called for each row of each stage.
template <typename Damage> void expectRejected(const Solver &solver, Damage damage) {
  Problem problem = problemOf(3, 6);
  problem.chunks = solver.shape == Shape::Interleaved ? 2 : 1;
  problem = adopted(solver.name, problem);
  const Tables sound = solved(solver.name, problem);
  size_t damaged = 0;
  for (uint32_t s = 0; s < problem.stages; ++s)
    for (size_t i = 0; i < sound.stages[s].rows.size(); ++i) {
      Tables tables = sound;
      if (!damage(problem, tables.stages[s], i))
        continue;
      ++damaged;
      EXPECT_FALSE(judge(problem, tables).empty())
          << solver.name << ", stage " << s << ": " << printRow(sound, s, sound.stages[s].rows[i]);
    }
  EXPECT_GE(damaged, 10u) << solver.name;
}

TEST(Solvers, DamagedTablesAreRejected) {
  for (const Solver &solver : solvers()) {
    // A body that runs for another microbatch, so that one runs twice and one never.
    expectRejected(solver, [](const Problem &problem, Table &table, size_t i) {
      Row &row = table.rows[i];
      if (row.kind != RowKind::Body || oncePerStep(bodyKind(row)))
        return false;
      row.microbatch = (row.microbatch + 1) % problem.microbatches;
      return true;
    });
    // A body that does not wait for what it receives.
    expectRejected(solver, [](const Problem &, Table &table, size_t i) {
      Row &row = table.rows[i];
      bool waits = false;
      for (size_t s = 1; s < table.streams.size(); ++s)
        waits |= row.kind == RowKind::Body && row.wait[s] && table.streams[s].starts_with("receive");
      row.wait = {};
      return waits;
    });
    // Sums in another order: two bodies that add to one accumulator change places.
    expectRejected(solver, [](const Problem &problem, Table &table, size_t i) {
      Row &row = table.rows[i];
      if (row.kind != RowKind::Body || bodyKind(row) != problem.accumulatingBody())
        return false;
      auto next = std::find_if(table.rows.begin() + i + 1, table.rows.end(), [&](const Row &other) {
        return other.kind == RowKind::Body && other.index == row.index;
      });
      if (next == table.rows.end())
        return false;
      std::swap(row.microbatch, next->microbatch);
      std::swap(row.slot, next->slot);
      return true;
    });
    // A row in a slot that another microbatch has.
    expectRejected(solver, [](const Problem &, Table &table, size_t i) {
      Row &row = table.rows[i];
      if (table.slots < 2 || row.kind != RowKind::Body || bodyKind(row) != BodyKind::Backward)
        return false;
      row.slot = (row.slot + 1) % table.slots;
      return true;
    });
  }
}

// Bubble (p-1)/(m+p-1) whatever the ratio of backward to forward.
TEST(Solvers, BubbleIsTheClosedForm) {
  for (const char *name : {"gpipe", "1f1b"})
    for (uint32_t p = 1; p <= 8; ++p)
      for (uint32_t m = 1; m <= 16; ++m)
        for (double backward : {1.0, 2.0, 2.5}) {
          Problem problem = problemOf(p, m);
          problem.times = {Times{.backward = backward}};
          Simulation simulation = simulated(name, problem);
          EXPECT_DOUBLE_EQ(simulation.makespan, (m + p - 1) * (1 + backward)) << name << " p=" << p << " m=" << m;
          EXPECT_NEAR(simulation.bubbleOfTotal(), double(p - 1) / (m + p - 1), 1e-12);
          EXPECT_NEAR(simulation.bubbleOfIdeal(), double(p - 1) / m, 1e-12);
        }
}

TEST(Solvers, InFlightIsTheClosedForm) {
  for (uint32_t p = 1; p <= 8; ++p)
    for (uint32_t m = 1; m <= 16; ++m) {
      Problem problem = problemOf(p, m);
      Tables gpipe = solved("gpipe", problem), oneFOneB = solved("1f1b", problem);
      Simulation held = simulated("1f1b", problem);
      for (uint32_t s = 0; s < p; ++s) {
        EXPECT_EQ(gpipe.stages[s].slots, m);
        EXPECT_EQ(oneFOneB.stages[s].slots, std::min(m, p - s));
        EXPECT_EQ(held.inFlightOfStage[s], std::min(m, p - s));
      }
    }
}

// A public claim had 1F1B at 71 steps here (zxypro1/algolocal pull request 95); the two schedules take the same time.
TEST(Solvers, OneFOneBTakesAsLongAsGPipe) {
  Problem problem = problemOf(8, 32);
  for (const char *name : {"gpipe", "1f1b"}) {
    Simulation simulation = simulated(name, problem);
    EXPECT_EQ(simulation.makespan, 78) << name;
    EXPECT_NEAR(simulation.bubbleOfTotal(), 14.0 / 78, 1e-12) << name;
    EXPECT_EQ(simulation.inFlightOfStage[0], std::string(name) == "gpipe" ? 32u : 8u);
  }
}

TEST(Solvers, FewerMicrobatchesThanStages) {
  Simulation simulation = simulated("1f1b", problemOf(4, 2));
  EXPECT_EQ(summary(simulation),
            "makespan 10, bubble 0.6000 of total, 1.5000 of ideal; longest stage span 10, bubble 0.6000 "
            "of total, 1.5000 of ideal; in flight 2 2 2 1");
}

TEST(Solvers, OneStageHasNoMessages) {
  Tables tables = solved("1f1b", problemOf(1, 3));
  EXPECT_TRUE(tables.messages.empty());
  EXPECT_EQ(tables.stages[0].streams, std::vector<std::string>{"compute"});
  EXPECT_EQ(tables.stages[0].slots, 1u);
}

// With time between stages, 1F1B's exact number of slots leaves no place for a message while its predecessor is
// computed.
TEST(Solvers, ReceiveAheadHidesMessages) {
  Problem problem = problemOf(4, 16);
  problem.times = {Times{.communication = 0.5}};
  double exact = simulated("1f1b", problem).makespan;
  problem.receiveAhead = 1;
  EXPECT_LT(simulated("1f1b", problem).makespan, exact);
  EXPECT_EQ(solved("1f1b", problem).stages[0].slots, 5u);
}

TEST(Solvers, WaitsLookUpwards) {
  Tables tables = solved("1f1b", problemOf(4, 8));
  for (const Table &table : tables.stages) {
    std::array<uint32_t, maxStreams> seen{};
    for (const Row &row : table.rows) {
      for (unsigned s = 0; s < maxStreams; ++s)
        EXPECT_LE(row.wait[s], seen[s]);
      ++seen[row.stream];
    }
  }
}

TEST(Solvers, Refusals) {
  EXPECT_EQ(refused("1f1", problemOf(2, 2)), "unknown schedule '1f1'; known: "
                                             "gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-h2, zb-1p, zb-2p, zb-v, v-half, "
                                             "v-min, dualpipe-v, file(\"TABLE\"); did you mean '1f1b'\n");
  EXPECT_EQ(
      refused("banana", problemOf(2, 2)),
      "unknown schedule 'banana'; known: "
      "gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-h2, zb-1p, zb-2p, zb-v, v-half, v-min, dualpipe-v, file(\"TABLE\")\n");
  EXPECT_EQ(refused("gpipe", problemOf(0, 0)), "stages is 0; legal: 1..32768\nmicrobatches is 0; legal: 1..16777216\n");
  EXPECT_EQ(refused("gpipe", problemOf(32768, 1 << 20)),
            "32768 virtual stages times 1048576 microbatches are 34359738368 bodies of a kind; at most 16777216\n");
  Problem bounded = problemOf(4, 8);
  bounded.maxInFlight = 3;
  EXPECT_EQ(refused("1f1b", bounded), "stage 0 keeps 4 microbatches in flight; at most 3 are allowed\n");
  Faults faults;
  Orders forwardsOfStage0 = {{{BodyKind::Forward, 0, 0}, {BodyKind::Backward, 0, 0}}, {}};
  EXPECT_FALSE(assemble(problemOf(2, 1), forwardsOfStage0, faults).has_value());
  EXPECT_EQ(text(faults),
            "stage 0: the order runs backward of microbatch 0 (chunk 0), but a message before it is never "
            "sent or has no slot yet\n");
  Problem chunked = problemOf(4, 8);
  chunked.chunks = 2;
  EXPECT_EQ(refused("1f1b", chunked), "1f1b with 2 chunks a stage; legal: 1\n");
  Problem timed = problemOf(2, 2);
  timed.times = {Times{}, Times{.forward = -1}, Times{}};
  EXPECT_EQ(refused("1f1b", timed), "times are given for 3 stages; legal: one entry for all, or 2\n"
                                    "a duration is -1; legal: finite and not below 0\n");
}

} // namespace
} // namespace hocket::schedule
