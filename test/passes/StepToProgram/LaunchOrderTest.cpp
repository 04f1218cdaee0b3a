// Collectives inside of bodies and messages on all ranks: no order of issue goes in a circle that the proof of the file
// (CheckIssueOrder, which looks at what joins stages alone) lets pass, and devices that have a place for every stream
// never stand still.
#include "DeviceModel.h"
#include "ScheduleProgram.h"
#include <gmock/gmock.h>
using namespace hocket;
using testing::IsEmpty;

namespace {
constexpr Inside everything{.dp = 2, .tp = 2, .streams = 2, .computes = true};

/// What step-verify-program never goes beyond under nccl:R: streams of messages, streams of bodies, the stream that
/// computes.
size_t placesOf(const program::ProgramT &program) {
  size_t messages = 0;
  for (auto &rank : program.ranks)
    messages = std::max(messages, rank->entries[0]->streams.size() - 1);
  return messages + program.ranks[0]->bodyStreams.size() + 1;
}

/// Latest issued first, which hinders most, and drawn orders.
size_t timesStuck(const DeviceModel &devices, size_t places, int draws) {
  size_t stuck = !devices.endsWith(places, nullptr);
  for (int seed = 0; seed < draws; ++seed) {
    std::mt19937 random(seed);
    stuck += !devices.endsWith(places, &random);
  }
  return stuck;
}

class LaunchOrder : public testing::TestWithParam<size_t> {};
} // namespace

TEST_P(LaunchOrder, OfAllCallsIsNoCircleAndAPlaceForEachStreamIsEnough) {
  const schedule::Solver &solver = schedule::solvers()[GetParam()];
  uint32_t chunks = solver.shape == schedule::Shape::OneChunk ? 1 : 2;
  for (uint32_t stages : {2, 4})
    for (bool evaluate : {false, true}) {
      SCOPED_TRACE(std::to_string(stages) + " stages" + (evaluate ? ", evaluation" : ""));
      schedule::Problem problem;
      schedule::Tables tables = solved(solver.name, stages, chunks, 2 * stages, evaluate, problem);
      ScheduleProgram program(tables, everything);
      ASSERT_TRUE(program.order(tables));
      EXPECT_THAT(program::check(program.packed()), IsEmpty());
      DeviceModel devices(program.packed(), program::trainEntry);
      EXPECT_TRUE(devices.endsInOrderOfIssue());
      EXPECT_EQ(timesStuck(devices, placesOf(program.made), 10), 0);
    }
}
INSTANTIATE_TEST_SUITE_P(All, LaunchOrder, testing::Range(size_t(0), schedule::solvers().size()), [](const auto &info) {
  std::string name = schedule::solvers()[info.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Rows change places, and the proof, which does not look at collectives inside of bodies, says what happens with them.
TEST(LaunchOrders, ProofSpeaksForCollectivesInsideOfBodies) {
  schedule::Problem problem;
  schedule::Tables tables = solved("1f1b", 3, 1, 4, false, problem);
  ScheduleProgram ordered(tables, everything);
  ASSERT_TRUE(ordered.order(tables));
  int circles = 0, sound = 0;
  for (size_t stage = 0; stage < tables.stages.size(); ++stage)
    for (size_t row = 0; row + 1 < tables.stages[stage].rows.size(); ++row) {
      schedule::Tables changed = tables;
      std::swap(changed.stages[stage].rows[row], changed.stages[stage].rows[row + 1]);
      ScheduleProgram program(changed, everything);
      std::vector<std::string> said = program::check(program.packed());
      if (std::any_of(said.begin(), said.end(),
                      [](const std::string &text) { return text.find("is a circle") == std::string::npos; }))
        continue; // rows of one stream, or no order of issue at all
      EXPECT_EQ(said.empty(), DeviceModel(program.packed(), program::trainEntry).endsInOrderOfIssue())
          << "stage " << stage << " row " << row;
      (said.empty() ? sound : circles) += 1;
    }
  EXPECT_GE(circles, 3);
  EXPECT_GE(sound, 3);
}

// Why the stream that computes counts where bodies have no streams of their own: messages that wait for other stages
// can hold all places of a rank whose sums those stages wait for.
TEST(LaunchOrders, MessagesCanKeepTheStreamThatComputesFromItsPlace) {
  schedule::Problem problem;
  schedule::Tables tables = solved("1f1b", 4, 1, 8, false, problem);
  ScheduleProgram program(tables, {.dp = 1, .tp = 2, .streams = 0, .computes = true});
  ASSERT_TRUE(program.order(tables));
  DeviceModel devices(program.packed(), program::trainEntry);
  ASSERT_EQ(placesOf(program.made), 5);
  EXPECT_EQ(timesStuck(devices, 5, 100), 0);
  EXPECT_GT(timesStuck(devices, 1, 100), 0);
}

// Two stages never have both of their messages on the way beside a body, as rows wait for each other: step-verify-program
// counts two kernels (test/tools/hocket/check-semantics.test), and devices with two places never stand still.
TEST(LaunchOrders, PlacesAreNeededForWhatRowsLetBeAtWorkAlone) {
  schedule::Problem problem;
  schedule::Tables tables = solved("1f1b", 2, 1, 4, false, problem);
  ScheduleProgram program(tables, {.dp = 2, .tp = 2, .streams = 0, .computes = true});
  ASSERT_TRUE(program.order(tables));
  DeviceModel devices(program.packed(), program::trainEntry);
  ASSERT_EQ(placesOf(program.made), 3);
  EXPECT_EQ(timesStuck(devices, 2, 200), 0);
}
