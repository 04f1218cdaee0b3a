// Why stages stand idle, and the same step as Chrome's events and as a drawing.
#include "passes/Schedule/IdleTime.h"
#include "ScheduleTesting.h"
#include "passes/Schedule/TimelineFiles.h"

namespace hocket::schedule {
namespace {

struct Timed {
  Problem problem;
  Tables tables;
  Simulation simulation;
};

Timed timed(const std::string &name, Problem problem) {
  problem = adopted(name, problem);
  Timed result{problem, solved(name, problem), {}};
  Faults faults;
  std::optional<Simulation> simulation = simulate(problem, result.tables, {}, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  result.simulation = simulation.value_or(Simulation());
  return result;
}

std::string causes(const Timed &step, uint32_t stage) {
  std::string all;
  for (const IdleTime &gap : idleTimes(step.tables, stage, step.simulation))
    all += std::to_string(int(gap.start)) + "-" + std::to_string(int(gap.end)) + " " + name(gap.cause) + "; ";
  return all;
}

// stage 0 F0 F1 .  .  B0 == .  B1 ==
// stage 1 .  F0 B0 == F1 B1 == .  .
TEST(IdleTime, WarmUpAndCoolDown) {
  Problem problem = problemOf(2, 2);
  problem.times = {Times{.backward = 2}};
  Timed step = timed("1f1b", problem);
  EXPECT_EQ(causes(step, 0), "2-4 warm-up; 6-7 cool-down; ");
  EXPECT_EQ(causes(step, 1), "0-1 warm-up; 7-9 cool-down; ");
  std::array<double, idleCauses> sums = sumByCause(idleTimes(step.tables, 0, step.simulation));
  EXPECT_EQ(sums, (std::array<double, idleCauses>{2, 1, 0, 0, 0}));
}

// A slow first stage starves the second of activations; a slow second one lets the first wait for gradients.
TEST(IdleTime, WhatAStageWaitsFor) {
  Problem problem = problemOf(2, 4);
  problem.times = {Times{.forward = 3, .backward = 3}, Times{}};
  EXPECT_THAT(causes(timed("1f1b", problem), 1), testing::HasSubstr("waits for an activation"));
  problem.times = {Times{}, Times{.forward = 3, .backward = 3}};
  EXPECT_THAT(causes(timed("1f1b", problem), 0), testing::HasSubstr("waits for a gradient"));
}

// What is idle and what is busy makes the whole, on every stage of every schedule.
TEST(IdleTime, AddsUp) {
  for (const Solver &solver : solvers()) {
    Problem problem = problemOf(4, 9);
    problem.chunks = solver.shape == Shape::Interleaved ? 2 : 1;
    problem.times = {Times{.forward = 2, .backward = 3, .weightGrad = 1, .communication = 0.5}};
    Timed step = timed(solver.name, problem);
    for (uint32_t s = 0; s < 4; ++s) {
      double idle = 0;
      for (double sum : sumByCause(idleTimes(step.tables, s, step.simulation)))
        idle += sum;
      EXPECT_NEAR(idle + step.simulation.busyOfStage[s], step.simulation.makespan, 1e-9) << solver.name << " " << s;
    }
  }
}

TEST(TimelineFiles, ChromeEvents) {
  std::string chrome = chromeTimeline(timed("1f1b", problemOf(2, 1)).tables, timed("1f1b", problemOf(2, 1)).simulation,
                                      {{"rank 0 (pp=0)", "rank 4 (pp=1)"}, {0, 4}, 1});
  EXPECT_EQ(chrome, R"json({"displayTimeUnit": "ms", "traceEvents": [
{"args":{"name":"rank 0 (pp=0)"},"name":"process_name","ph":"M","pid":0,"tid":0},
{"args":{"name":"compute"},"name":"thread_name","ph":"M","pid":0,"tid":0},
{"args":{"name":"send_next"},"name":"thread_name","ph":"M","pid":0,"tid":1},
{"args":{"name":"receive_next"},"name":"thread_name","ph":"M","pid":0,"tid":2},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"forward of microbatch 0","ph":"X","pid":0,"tdur":1,"tid":0,"ts":0},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"backward of microbatch 0","ph":"X","pid":0,"tdur":1,"tid":0,"ts":3},
{"args":{"microbatch":0,"step":1},"dur":2,"name":"idle: warm-up","ph":"X","pid":0,"tdur":0,"tid":0,"ts":1},
{"args":{"name":"rank 4 (pp=1)"},"name":"process_name","ph":"M","pid":4,"tid":0},
{"args":{"name":"compute"},"name":"thread_name","ph":"M","pid":4,"tid":0},
{"args":{"name":"receive_previous"},"name":"thread_name","ph":"M","pid":4,"tid":1},
{"args":{"name":"send_previous"},"name":"thread_name","ph":"M","pid":4,"tid":2},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"forward of microbatch 0","ph":"X","pid":4,"tdur":1,"tid":0,"ts":1},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"backward of microbatch 0","ph":"X","pid":4,"tdur":1,"tid":0,"ts":2},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"idle: warm-up","ph":"X","pid":4,"tdur":0,"tid":0,"ts":0},
{"args":{"microbatch":0,"step":1},"dur":1,"name":"idle: cool-down","ph":"X","pid":4,"tdur":0,"tid":0,"ts":3},
{"name":"trace_end","ph":"M","pid":0}
]}
)json");
}

TEST(TimelineFiles, Drawing) {
  Timed step = timed("zb-h1", problemOf(2, 2));
  std::string svg = svgTimeline(step.tables, step.simulation, 400);
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\""));
  EXPECT_THAT(svg, testing::HasSubstr("<title>weight_grad of microbatch 1, "));
  EXPECT_THAT(svg, testing::HasSubstr("<title>idle: warm-up, 0 to 1</title>"));
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at)
    ++boxes;
  size_t bodies = 2 * 2 * 3, gaps = 0;
  for (uint32_t s : {0, 1})
    gaps += idleTimes(step.tables, s, step.simulation).size();
  EXPECT_EQ(boxes, bodies + gaps);
}

} // namespace
} // namespace hocket::schedule
