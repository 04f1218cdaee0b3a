// Every named schedule, as the program that it becomes: its rows in the order of issue run on GPUs that do one call of
// NCCL at a time, in the order of launch (the judge's nccl:1), which the order in which schedules name them does not.
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Solvers.h"
#include "runtime/Program/IssueOrder.h"
#include "runtime/Program/ProgramFile.h"
#include <gmock/gmock.h>
#include <map>
using namespace hocket;
using testing::IsEmpty;

namespace {
constexpr schedule::Semantics oneAtATime{.nccl = true, .resident = 1};

std::string text(const schedule::Faults &faults) {
  std::string all;
  for (const schedule::Fault &fault : faults)
    all += fault.text + "\n";
  return all;
}

schedule::Tables solved(const std::string &name, uint32_t stages, uint32_t chunks, uint32_t microbatches, bool evaluate,
                        schedule::Problem &problem) {
  schedule::Faults faults;
  problem.stages = stages;
  problem.chunks = chunks;
  problem.microbatches = microbatches;
  problem.evaluate = evaluate;
  problem.evaluateUpdate = true;
  EXPECT_TRUE(schedule::adopt(name, problem, faults)) << text(faults);
  auto tables = schedule::solve(name, problem, faults);
  EXPECT_TRUE(tables) << text(faults);
  return tables.value_or(schedule::Tables());
}

/// A program whose bodies do nothing, but for a sum over all stages in the last.
class ProgramOf {
public:
  program::ProgramT made;

  explicit ProgramOf(const schedule::Tables &tables) : tables(tables) {
    uint32_t stages = uint32_t(tables.stages.size());
    made.name = made.plan = made.recipe = "p";
    made.target = "cuda";
    made.stageAxis = 0;
    made.threads = 1;
    made.globalBatch = made.microbatches = tables.microbatches;
    made.microbatchRows = made.sequence = made.vocabulary = 1;
    made.strings = {""};
    made.axes.push_back(std::make_unique<program::AxisT>());
    made.axes.back()->name = "pp";
    made.axes.back()->size = stages;
    add("pp", program::CommunicatorKind::Group, 0, 0);
    for (const schedule::Message &message : tables.messages)
      if (edges.try_emplace({message.from, message.to}, made.communicators.size()).second)
        add("edge", program::CommunicatorKind::Edge, message.from, message.to);
    for (uint32_t stage = 0; stage < stages; ++stage)
      addStage(stage);
  }

  const program::Program &packed() {
    builder.Clear();
    builder.Finish(program::Program::Pack(builder, &made));
    return *flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
  }

private:
  void add(const char *name, program::CommunicatorKind kind, uint32_t from, uint32_t to) {
    made.communicators.push_back(std::make_unique<program::CommunicatorT>());
    program::CommunicatorT &communicator = *made.communicators.back();
    communicator.name = name;
    communicator.kind = kind;
    communicator.axes = {program::AxisRef(0, 1, made.axes[0]->size)};
    communicator.from = from;
    communicator.to = to;
  }

  void addStage(uint32_t stage) {
    const schedule::Table &table = tables.stages[stage];
    made.ranks.push_back(std::make_unique<program::RankProgramT>());
    program::RankProgramT &rank = *made.ranks.back();
    rank.stage = stage;
    rank.slotCount = table.slots;
    rank.slotBytes = 8;
    rank.slotsOffset = 8;
    rank.arenaBytes = 8 + 8 * uint64_t(table.slots);
    rank.entries.push_back(std::make_unique<program::EntryT>());
    program::EntryT &entry = *rank.entries.back();
    entry.name = program::trainEntry;
    entry.streams = table.streams;
    std::map<uint32_t, uint32_t> bodies, messages;
    for (const schedule::Row &row : table.rows) {
      bool body = row.kind == schedule::RowKind::Body;
      auto &known = body ? bodies : messages;
      auto [at, fresh] = known.try_emplace(row.index, known.size());
      if (fresh)
        body ? addBody(rank, row) : addMessage(rank, tables.messages[row.index]);
      entry.rows.push_back(program::Row(static_cast<program::RowKind>(row.kind), row.stream, uint16_t(at->second),
                                        row.microbatch, row.slot,
                                        flatbuffers::span<const uint32_t, 8>(row.wait.data(), row.wait.size())));
    }
  }

  void addBody(program::RankProgramT &rank, const schedule::Row &row) {
    rank.bodies.push_back(std::make_unique<program::BodyT>());
    rank.bodies.back()->name = schedule::name(schedule::bodyKind(row));
    rank.bodies.back()->kind = static_cast<program::BodyKind>(schedule::bodyKind(row));
    if (schedule::bodyKind(row) != schedule::BodyKind::Update)
      return;
    auto sum = std::make_unique<program::InstructionT>();
    sum->op = program::Op::AllReduce;
    sum->buffers = {program::Buffer(program::Space::Arena, 0, 4), program::Buffer(program::Space::Arena, 0, 4)};
    rank.bodies.back()->instructions.push_back(std::move(sum));
  }

  void addMessage(program::RankProgramT &rank, const schedule::Message &message) {
    rank.messages.push_back(std::make_unique<program::MessageT>());
    rank.messages.back()->name = schedule::name(message);
    rank.messages.back()->communicator = uint32_t(edges.at({message.from, message.to}));
    rank.messages.back()->buffer = std::make_unique<program::Buffer>(program::Space::Slot, 0, 8);
  }

  const schedule::Tables &tables;
  std::map<std::pair<uint32_t, uint32_t>, size_t> edges;
  flatbuffers::FlatBufferBuilder builder;
};

/// The tables with their rows, and the program's, in the order of issue; false where there is none.
bool order(schedule::Tables &tables, ProgramOf &program) {
  auto orders = program::issueOrders(program.packed(), program::trainEntry);
  for (size_t stage = 0; orders && stage < orders->size(); ++stage) {
    std::vector<schedule::Row> rows;
    std::vector<program::Row> made;
    for (uint32_t row : (*orders)[stage]) {
      rows.push_back(tables.stages[stage].rows[row]);
      made.push_back(program.made.ranks[stage]->entries[0]->rows[row]);
    }
    tables.stages[stage].rows = std::move(rows);
    program.made.ranks[stage]->entries[0]->rows = std::move(made);
  }
  return orders.has_value();
}

class Schedules : public testing::TestWithParam<size_t> {};
} // namespace

TEST_P(Schedules, JudgeAndRuntimeMeanTheSameOrder) {
  const schedule::Solver &solver = schedule::solvers()[GetParam()];
  uint32_t chunks = solver.shape == schedule::Shape::OneChunk ? 1 : 2;
  for (uint32_t stages : {2, 3, 4, 8})
    for (uint32_t rounds : {2, 3})
      for (bool evaluate : {false, true}) {
        schedule::Problem problem;
        schedule::Tables tables = solved(solver.name, stages, chunks, stages * rounds, evaluate, problem);
        SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(stages * rounds) + " microbatches" +
                     (evaluate ? ", evaluation" : ""));
        ProgramOf program(tables);
        ASSERT_TRUE(order(tables, program));
        EXPECT_THAT(program::check(program.packed()), IsEmpty());
        EXPECT_EQ(text(schedule::judge(problem, tables, oneAtATime)), "");
      }
}
INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::Range(size_t(0), schedule::solvers().size()), [](const auto &info) {
  std::string name = schedule::solvers()[info.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Schedules, AsNamedMayGoInACircle) {
  schedule::Problem problem;
  schedule::Tables tables = solved("1f1b", 4, 1, 8, false, problem);
  ProgramOf program(tables);
  EXPECT_THAT(program::check(program.packed()),
              testing::ElementsAre(
                  testing::StartsWith("entry 'train': the order in which calls are issued is a circle: stage ")));
  EXPECT_THAT(text(schedule::judge(problem, tables, oneAtATime)), testing::HasSubstr("that order is a circle of"));
}

// What the proof of the file says of an order is what the judge says of it: rows of 1F1B, two of them changed places.
// Of the update, in which the stages sum, only the proof knows what it sends.
TEST(Schedules, ProofAndJudgeAgree) {
  schedule::Problem problem;
  schedule::Tables tables = solved("1f1b", 3, 1, 4, false, problem);
  ProgramOf ordered(tables);
  ASSERT_TRUE(order(tables, ordered));
  int circles = 0, sound = 0;
  for (size_t stage = 0; stage < tables.stages.size(); ++stage)
    for (size_t row = 0; row + 1 < tables.stages[stage].rows.size(); ++row) {
      schedule::Tables changed = tables;
      schedule::Row &a = changed.stages[stage].rows[row], &b = changed.stages[stage].rows[row + 1];
      auto isUpdate = [](const schedule::Row &each) {
        return each.kind == schedule::RowKind::Body && schedule::bodyKind(each) == schedule::BodyKind::Update;
      };
      if (a.stream == b.stream || isUpdate(a) || isUpdate(b))
        continue;
      std::swap(a, b);
      ProgramOf program(changed);
      std::vector<std::string> said = program::check(program.packed());
      if (said.size() == 1 && said[0].find("stand above") != std::string::npos)
        continue; // no order of launch at all
      bool circle = !schedule::judge(problem, changed, oneAtATime).empty();
      EXPECT_EQ(circle, !said.empty()) << "stage " << stage << " row " << row;
      (circle ? circles : sound) += 1;
    }
  EXPECT_GE(circles, 3);
  EXPECT_GE(sound, 3);
}
