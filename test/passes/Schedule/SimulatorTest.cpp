// Times of tables: what a message costs, the two bubbles, drawing.
#include "ScheduleTesting.h"
#include "passes/Schedule/Timeline.h"

namespace hocket::schedule {
namespace {

struct Simulated {
  Tables tables;
  Simulation simulation;
};

Simulated run(const std::string &name, const Problem &problem, Semantics semantics = {}) {
  Faults faults;
  Tables tables = solved(name, problem);
  std::optional<Simulation> simulation = simulate(problem, tables, semantics, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  return {tables, simulation.value_or(Simulation())};
}

// One microbatch: down and up the pipeline, with a message between every two stages each way.
TEST(Simulator, OneMicrobatch) {
  Problem problem = problemOf(4, 1);
  problem.times = {Times{.forward = 2, .backward = 5, .communication = 0.25}};
  EXPECT_DOUBLE_EQ(run("1f1b", problem).simulation.makespan, 4 * 7 + 6 * 0.25);
}

// Stages with times of their own: the slowest one sets the pace, 8 microbatches behind its first.
TEST(Simulator, UnequalStages) {
  Problem problem = problemOf(3, 8);
  problem.times = {Times{}, Times{.forward = 3, .backward = 3}, Times{}};
  Simulation simulation = run("gpipe", problem).simulation;
  EXPECT_DOUBLE_EQ(simulation.makespan, 1 + 8 * 3 + 1 + 1 + 8 * 3 + 1);
  EXPECT_DOUBLE_EQ(simulation.busyOfStage[1], 48);
  EXPECT_DOUBLE_EQ(simulation.busy, 16 + 48 + 16);
}

// The eval pipeline fills and drains, but no stage stands idle inside its own span.
TEST(Simulator, BubbleOfSpanAndOfMakespan) {
  Problem problem = problemOf(4, 8);
  problem.evaluate = true;
  Simulation simulation = run("1f1b", problem).simulation;
  EXPECT_DOUBLE_EQ(simulation.bubbleOfTotal(), 3.0 / 11);
  EXPECT_DOUBLE_EQ(simulation.bubbleOfIdeal(), 3.0 / 8);
  EXPECT_DOUBLE_EQ(simulation.spanBubbleOfTotal(), 0);
  EXPECT_DOUBLE_EQ(simulation.spanBubbleOfIdeal(), 0);
}

TEST(Simulator, WeightGradients) {
  Problem problem = problemOf(2, 2);
  problem.splitWeightGrad = true;
  Simulated run1 = run("1f1b", problem);
  EXPECT_EQ(renderTimeline(run1.tables, run1.simulation), "time    0  1  2  3  4  5  6  7\n"
                                                          "stage 0 F0 F1 .  B0 W0 .  B1 W1\n"
                                                          "stage 1 .  F0 B0 W0 F1 B1 W1 .\n");
}

TEST(Simulator, ColumnsAndBeginAndUpdate) {
  Problem problem = problemOf(1, 12);
  problem.times = {Times{.begin = 1, .update = 2}};
  Simulated run1 = run("gpipe", problem);
  std::string drawn = renderTimeline(run1.tables, run1.simulation, {.unit = 1, .indent = "| "});
  EXPECT_THAT(drawn, testing::StartsWith("| time    0   1   2 "));
  EXPECT_THAT(drawn, testing::HasSubstr("\n| stage 0 [   F0  F1 "));
  EXPECT_THAT(drawn, testing::EndsWith(" B11 ]   =\n"));
  EXPECT_THAT(renderTimeline(run1.tables, run1.simulation, {.columns = 9}), testing::HasSubstr(" 8"));
  EXPECT_THAT(renderTimeline(run1.tables, run1.simulation, {.columns = 9}), testing::Not(testing::HasSubstr(" 9")));
}

// A rendezvous send holds its stream until the receive is there; a buffered one does not, and compute never waits for
// it.
TEST(Simulator, Semantics) {
  Problem problem = problemOf(2, 4);
  problem.times = {Times{.communication = 1}};
  double rendezvous = run("1f1b", problem).simulation.makespan;
  double buffered = run("1f1b", problem, {4}).simulation.makespan;
  EXPECT_LT(buffered, rendezvous);
}

TEST(Simulator, DeadlockIsAFault) {
  Faults faults;
  Problem problem = problemOf(2, 1);
  Tables tables = solved("1f1b", problem);
  tables.stages[0].rows[1].wait[2] = 1; // the first forward waits for its gradient
  EXPECT_FALSE(simulate(problem, tables, {}, faults).has_value());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].text, testing::StartsWith("deadlock with rendezvous sends"));
}

} // namespace
} // namespace hocket::schedule
