// Every named schedule, as the program that it becomes: its rows in the order of issue run on GPUs that do one call of
// NCCL at a time, in the order of launch (the judge's nccl:1), which the order in which schedules name them does not.
#include "ScheduleProgram.h"
#include "passes/Schedule/Judge.h"
#include <gmock/gmock.h>
using namespace hocket;
using testing::IsEmpty;

namespace {
constexpr schedule::Semantics oneAtATime{.nccl = true, .resident = 1};

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
        ScheduleProgram program(tables);
        ASSERT_TRUE(program.order(tables));
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
  ScheduleProgram program(tables);
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
  ScheduleProgram ordered(tables);
  ASSERT_TRUE(ordered.order(tables));
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
      ScheduleProgram program(changed);
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
