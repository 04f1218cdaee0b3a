// A step on a machine with fewer cores than ranks, against times worked out by hand.
#include "tools/hocket/MachineSimulation.h"
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
program::Row row(program::RowKind kind, uint8_t stream, uint16_t index, std::array<uint32_t, 8> wait = {}) {
  return program::Row(kind, stream, index, 0, 0, wait);
}

void addBody(program::RankProgramT &stage, std::vector<program::Op> ops) {
  auto body = std::make_unique<program::BodyT>();
  for (program::Op op : ops) {
    auto instruction = std::make_unique<program::InstructionT>();
    instruction->op = op;
    body->instructions.push_back(std::move(instruction));
  }
  stage.bodies.push_back(std::move(body));
}

std::unique_ptr<program::RankProgramT> stageOf(std::vector<std::string> streams, std::vector<program::Row> rows) {
  auto stage = std::make_unique<program::RankProgramT>();
  auto train = std::make_unique<program::EntryT>();
  train->name = "train";
  train->streams = std::move(streams);
  train->rows = std::move(rows);
  stage->entries.push_back(std::move(train));
  return stage;
}

/// `ranks` ranks along "dp" that each run `ops` once; collectives are of all of them.
program::ProgramT dataParallel(uint32_t ranks, std::vector<program::Op> ops, uint32_t threads = 1) {
  program::ProgramT program;
  program.threads = threads;
  program.axes.push_back(std::make_unique<program::AxisT>());
  program.axes[0]->name = "dp";
  program.axes[0]->size = ranks;
  program.ranks.push_back(stageOf({"compute"}, {row(program::RowKind::Body, 0, 0)}));
  addBody(*program.ranks[0], std::move(ops));
  auto group = std::make_unique<program::CommunicatorT>();
  group->axes = {program::AxisRef(0, 1, ranks)};
  program.communicators.push_back(std::move(group));
  return program;
}

/// Two stages, the first of which sends the second what it needs.
program::ProgramT pipeline() {
  program::ProgramT program;
  program.axes.push_back(std::make_unique<program::AxisT>());
  program.axes[0]->name = "pp";
  program.axes[0]->size = 2;
  program.stageAxis = 0;
  program.ranks.push_back(
      stageOf({"compute", "send"}, {row(program::RowKind::Body, 0, 0), row(program::RowKind::Send, 1, 0, {1}),
                                    row(program::RowKind::Body, 0, 0)}));
  program.ranks.push_back(stageOf({"compute", "receive"},
                                  {row(program::RowKind::Receive, 1, 0), row(program::RowKind::Body, 0, 0, {0, 1})}));
  for (auto &stage : program.ranks) {
    addBody(*stage, {program::Op::Kernel});
    stage->messages.push_back(std::make_unique<program::MessageT>());
  }
  auto edge = std::make_unique<program::CommunicatorT>();
  edge->kind = program::CommunicatorKind::Edge;
  edge->axes = {program::AxisRef(0, 1, 2)};
  edge->to = 1;
  program.communicators.push_back(std::move(edge));
  return program;
}

Machine oneHost(size_t ranks, double cores) { return {std::vector<uint32_t>(ranks, 0), {cores}}; }
constexpr program::Op K = program::Op::Kernel, R = program::Op::AllReduce;
} // namespace

TEST(MachineSimulation, RanksShareCores) {
  auto program = dataParallel(4, {K});
  std::vector<std::vector<double>> work{{10}, {10}, {10}, {10}};
  EXPECT_EQ(simulateMachine(program, oneHost(4, 4), work), 10);
  EXPECT_EQ(simulateMachine(program, oneHost(4, 8), work), 10); // a rank uses one core
  EXPECT_EQ(simulateMachine(program, oneHost(4, 2), work), 20);
  EXPECT_EQ(simulateMachine(program, oneHost(4, 1), work), 40);
  EXPECT_NEAR(simulateMachine(program, {{0, 0, 0, 1}, {1, 1}}, work).value_or(0), 30, 1e-9); // the fourth is alone on its host
}

// 3 ranks on 2 cores: all run at 2/3 until the short ones are done at 15; the long one then runs alone, 30 - 10 left.
TEST(MachineSimulation, WhoIsLeftHasMore) {
  EXPECT_EQ(simulateMachine(dataParallel(3, {K}), oneHost(3, 2), {{10}, {10}, {30}}), 35);
}

TEST(MachineSimulation, ThreadsWantCores) {
  EXPECT_EQ(simulateMachine(dataParallel(2, {K}, 2), oneHost(2, 4), {{10}, {10}}), 10);
  EXPECT_EQ(simulateMachine(dataParallel(2, {K}, 2), oneHost(2, 2), {{10}, {10}}), 20);
}

// On two cores the first rank waits from 10 to 30 and then both take 5; who waits uses no core.
TEST(MachineSimulation, CollectivesBeginWithTheLast) {
  auto program = dataParallel(2, {K, R, K});
  std::vector<std::vector<double>> work{{10, 5, 40}, {30, 5, 1}};
  EXPECT_EQ(simulateMachine(program, oneHost(2, 2), work), 30 + 5 + 40);
  EXPECT_EQ(simulateMachine(program, oneHost(2, 1), work), 40 + 10 + 41);
}

TEST(MachineSimulation, MessagesOrderStages) {
  EXPECT_EQ(simulateMachine(pipeline(), oneHost(2, 2), {{10, 7}, {20}}), 30);
  EXPECT_EQ(simulateMachine(pipeline(), oneHost(2, 1), {{10, 7}, {20}}), 37);
}

TEST(MachineSimulation, AStepThatNeverEndsHasNoTime) {
  auto program = pipeline();
  program.ranks[0]->entries[0]->rows.erase(program.ranks[0]->entries[0]->rows.begin() + 1); // nothing is sent
  EXPECT_EQ(simulateMachine(program, oneHost(2, 2), {{10, 7}, {20}}), std::nullopt);
}
