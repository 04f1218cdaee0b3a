// The simulator against published measurements: Qi et al., "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, tables
// 4 (samples per GPU and second, A100) and 5 (bubble rates calculated from profiled times), for their 1.5B and 14.6B
// models. Their profiled times are not published; four a model are fitted here (in milliseconds, forward : backward :
// weight gradient : message), and one overhead that every pass of a chunk costs beside.
#include "ScheduleTesting.h"
#include "passes/Schedule/Simulator.h"

#include <cmath>
#include <map>

namespace hocket::schedule {
namespace {

struct Model {
  const char *name;
  uint32_t stages;
  double forward, backward, weightGrad, message, overhead;
  double heldForWeightGrad; ///< 32 / (34 + 5 a s / h)
};
constexpr Model small{"1.5B", 8, 18.522, 18.086, 9.337, 0.601, 0.8, 32 / (34 + 5.0 * 24 * 1024 / 2304)};
constexpr Model large{"14.6B", 16, 11.347, 11.248, 8.132, 0.377, 0.5, 32 / (34 + 5.0 * 40 * 1024 / 5120)};

struct Measured {
  const Model &model;
  const char *schedule;
  uint32_t microbatches;
  double throughput, bubble;
};
constexpr Measured measured[] = {{small, "1f1b", 24, 11.8, 0.2431},
                                 {small, "1f1b", 32, 12.5, 0.1985},
                                 {small, "1f1b", 64, 13.6, 0.124},
                                 {small, "zb-2p", 24, 14.5, 0.0433},
                                 {small, "zb-2p", 32, 14.8, 0.0039},
                                 {small, "zb-2p", 64, 14.9, 0.0026},
                                 {small, "zb-1p", 24, 12.9, 0.1585},
                                 {small, "zb-1p", 32, 13.4, 0.1242},
                                 {small, "zb-1p", 64, 14.2, 0.0674},
                                 {small, "interleaved-1f1b", 24, 13.1, 0.1055},
                                 {small, "interleaved-1f1b", 32, 13.4, 0.0818},
                                 {small, "interleaved-1f1b", 64, 13.9, 0.0443},
                                 {large, "1f1b", 48, 1.40, 0.2552},
                                 {large, "1f1b", 64, 1.49, 0.2082},
                                 {large, "1f1b", 128, 1.64, 0.1251},
                                 {large, "zb-2p", 48, 1.81, 0.0066},
                                 {large, "zb-2p", 64, 1.83, 0.0054},
                                 {large, "zb-2p", 128, 1.85, 0.0028},
                                 {large, "zb-1p", 48, 1.61, 0.1397},
                                 {large, "zb-1p", 64, 1.67, 0.1088},
                                 {large, "zb-1p", 128, 1.76, 0.0576},
                                 {large, "interleaved-1f1b", 48, 1.54, 0.1104},
                                 {large, "interleaved-1f1b", 64, 1.59, 0.0852},
                                 {large, "interleaved-1f1b", 128, 1.66, 0.0445}};

/// A step of it; `overhead`: with that of the model. Their interleaved schedule has three chunks, of one layer each.
Simulation simulate(const Measured &row, bool overhead) {
  const Model &model = row.model;
  Problem problem = problemOf(model.stages, row.microbatches);
  problem.chunks = std::string(row.schedule) == "interleaved-1f1b" ? 3 : 1;
  double parts = problem.chunks, extra = overhead ? model.overhead : 0;
  problem = adopted(row.schedule, problem);
  problem.heldForWeightGrad = model.heldForWeightGrad;
  problem.receiveAhead = 1; // messages have buffers of their own there
  double backward = model.backward + (problem.splitWeightGrad ? 0 : model.weightGrad);
  problem.times = {Times{.forward = model.forward / parts + extra,
                         .backward = backward / parts + extra,
                         .weightGrad = model.weightGrad / parts + extra,
                         .communication = model.message}};
  Faults faults;
  std::optional<Simulation> simulation = simulate(problem, solved(row.schedule, problem), {}, faults);
  EXPECT_TRUE(simulation.has_value()) << text(faults);
  return simulation.value_or(Simulation());
}

TEST(Calibration, BubbleRates) {
  for (const Measured &row : measured)
    EXPECT_NEAR(simulate(row, false).spanBubbleOfTotal(), row.bubble, 0.01)
        << row.model.name << " " << row.schedule << " m=" << row.microbatches;
}

TEST(Calibration, ThroughputOver1F1B) {
  double sum = 0;
  std::map<std::pair<const char *, uint32_t>, std::pair<double, double>> base; // span and throughput of 1f1b
  size_t count = 0;
  for (const Measured &row : measured) {
    double span = simulate(row, true).stageSpan;
    auto [it, isBase] = base.try_emplace({row.model.name, row.microbatches}, span, row.throughput);
    if (isBase)
      continue;
    double error = (it->second.first / span) / (row.throughput / it->second.second) - 1;
    EXPECT_LT(std::abs(error), 0.04) << row.model.name << " " << row.schedule << " m=" << row.microbatches;
    sum += std::abs(error);
    ++count;
  }
  EXPECT_EQ(count, 18u);
  EXPECT_LT(sum / double(count), 0.03);
}

} // namespace
} // namespace hocket::schedule
