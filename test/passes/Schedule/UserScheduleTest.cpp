// Schedules that others wrote down: actions as in papers and PyTorch's files, tables with chunks, and what is wrong
// with each. (The published deadlocks as they stand in their reports are in test/integration/cases.)
#include "passes/Schedule/UserSchedule.h"
#include "ScheduleTesting.h"
#include "passes/Schedule/TableText.h"
#include <sstream>

namespace hocket::schedule {
namespace {

std::string verdict(std::string_view source, Semantics semantics = {}) {
  Faults faults;
  std::optional<UserSchedule> schedule = readSchedule(source, /*wholeStep=*/false, faults);
  return schedule ? text(judge(*schedule, semantics)) : text(faults);
}

TEST(UserSchedule, ActionsOf1F1BAre1F1B) {
  Faults faults;
  std::optional<UserSchedule> schedule = readSchedule("# rank 0\n0F0,0F1,,,0B0,0F2,0B1,0B2\n,1F0,1B0,1F1,1B1,1F2,1B2\n",
                                                      /*wholeStep=*/true, faults);
  ASSERT_TRUE(schedule.has_value()) << text(faults);
  EXPECT_EQ(schedule->tables, solved("1f1b", problemOf(2, 3)));
  EXPECT_EQ(text(judge(*schedule, {})), "");
}

TEST(UserSchedule, SplitBackwards) {
  EXPECT_EQ(verdict("0F0 0F1 0I0 0I1 0W0 0W1\n1F0 1I0 1W0 1F1 1B1\n"), "");
  EXPECT_EQ(verdict("0F0 0F1 0I0 0I1 0W1 0W0\n1F0 1I0 1W0 1F1 1B1\n"),
            "stage 0, time 7: weight_grad of microbatch 1 adds weight gradients before those of microbatch 0\n"
            "  stage 0, time 8: weight_grad of microbatch 0\n");
}

TEST(UserSchedule, StagesLieWhereTheyStand) {
  Faults faults;
  std::optional<UserSchedule> v = readSchedule("0F0 3F0 3B0 0B0\n1F0 2F0 2B0 1B0\n", /*wholeStep=*/false, faults);
  ASSERT_TRUE(v.has_value()) << text(faults);
  EXPECT_EQ(v->problem.placement, placeV(2));
  EXPECT_EQ(text(judge(*v, {})), "");
}

TEST(UserSchedule, EveryFaultOfActions) {
  EXPECT_EQ(
      verdict("0F0 0X1 F\n1F0 0B0 (1B0\n"),
      "line 1: '0X1' is no action; an action is STAGE WORD MICROBATCH as in 0F1, with the words F, B, I, W, SEND_F, "
      "RECV_F, SEND_B, RECV_B\n"
      "line 1: 'F' is no action; an action is STAGE WORD MICROBATCH as in 0F1, with the words F, B, I, W, SEND_F, "
      "RECV_F, SEND_B, RECV_B\n"
      "line 2: a group is not closed\n");
  EXPECT_EQ(verdict("0F0 0B0\n0F1 1B0\n"),
            "line 2: '0F1' runs stage 0 on rank 1, line 1 on rank 0; a stage lies on one rank\n");
  EXPECT_EQ(verdict("0F0 0B0 2F0 2B0\n3F0 3B0 4F0 4B0\n"), "no rank runs stage 1; stages are 0..4\n");
  EXPECT_EQ(verdict("0F0 0B0 2F0 2B0\n1F0 1B0\n"), "rank 1 has 1 stages (1), others have 2; all ranks need as many\n");
  EXPECT_EQ(verdict("0F0 0B0\n9999F0 9999B0\n"), "no rank runs stages 1 to 9998; stages are 0..9999\n");
  EXPECT_EQ(verdict("0F0 2F0 3F0 6F0 8F0 10F0 12F0 14F0 16F0\n18F0 20F0 22F0 24F0 26F0 27F0 28F0 29F0 30F0\n"),
            "no rank runs stages 1, 4, 5, 7, 9, 11, 13, 15, 17 and 4 more; stages are 0..30\n");
  EXPECT_EQ(verdict("0B0 0F0 0F0\n1F0 1F1 1B1\n"), "stage 0 runs forward of microbatch 0 for the second time\n"
                                                   "stage 0 runs backward of microbatch 0 before its forward\n"
                                                   "stage 0 never runs forward of microbatch 1\n"
                                                   "stage 0 never runs backward of microbatch 1\n"
                                                   "stage 1 never runs backward of microbatch 0\n");
  EXPECT_EQ(verdict("0SEND_F0\n0SEND_B0\n"),
            "line 2: '0SEND_B0' runs stage 0 on rank 1, line 1 on rank 0; a stage lies on one rank\n");
  EXPECT_EQ(verdict("0SEND_F0\n2RECV_F0\n"), "line 1: '0SEND_F0' goes to stage 1, which is on no rank\n"
                                             "line 2: '2RECV_F0' comes from stage 1, which is on no rank\n");
  EXPECT_EQ(verdict("// nothing\n"), "no line 'schedule stages P chunks V microbatches M'\n");
}

// Faults number stages by rank; where the text numbers them otherwise, the first says how.
TEST(UserSchedule, StagesOfFaultsAreRanks) {
  EXPECT_EQ(verdict("1F0 1B0 1F1\n0F0 0B0 0F1\n"),
            "stage 0 never runs backward of microbatch 1\n"
            "  stages are the ranks here, a line each: stage 0 runs the text's stage 1, stage 1 runs its 0\n"
            "stage 1 never runs backward of microbatch 1\n");
  EXPECT_EQ(verdict("1F0 1F1 1I0 1I1 1W1 1W0\n0F0 0F1 0I0 0W0 0I1 0W1\n"),
            "stage 0, time 5: weight_grad of microbatch 1 adds weight gradients before those of microbatch 0\n"
            "  stage 0, time 6: weight_grad of microbatch 0\n"
            "  stages are the ranks here, a line each: stage 0 runs the text's stage 1, stage 1 runs its 0\n");
  EXPECT_EQ(verdict("0F0 3F0 3B0\n1F0 2F0 2B0 1B0\n"),
            "stage 0 never runs backward of microbatch 0 (chunk 0)\n"
            "  stages are the ranks here, a line each: stage 0 runs the text's stages 0, 3, stage 1 runs its 1, 2\n");
}

// Orders that wait for each other: stage 0 wants the gradient before it sends what the gradient comes from.
TEST(UserSchedule, ActionsThatWaitForEachOther) {
  EXPECT_THAT(
      verdict("0F0 0B0 0F1 0B1\n1F1 1B1 1F0 1B0\n"),
      testing::AllOf(testing::StartsWith("stage 0: the order runs backward of microbatch 0 (chunk 0), but a message "
                                         "before it is never sent or has no slot yet\n"),
                     testing::HasSubstr("edge 1 -> 0: message 0 is sent as one and received as another\n")));
  // Here the bodies themselves wait in a circle, over three stages.
  EXPECT_THAT(verdict("0F0 3F0 0B0 3B0\n1F0 1B0 4F0 4B0\n2F0 2B0 5F0 5B0\n"),
              testing::StartsWith("deadlock with rendezvous sends: 9 rows wait for each other"));
}

TEST(UserSchedule, TablesSayWhatTheyAreFor) {
  for (const char *name : {"interleaved-1f1b", "zb-v", "1f1b"}) {
    Problem problem = problemOf(3, 6);
    problem.chunks = name == std::string("interleaved-1f1b") ? 2 : 1;
    problem = adopted(name, problem);
    Faults faults;
    std::optional<UserSchedule> read = readSchedule(printTables(solved(name, problem)), /*wholeStep=*/true, faults);
    ASSERT_TRUE(read.has_value()) << text(faults);
    EXPECT_EQ(read->problem.splitWeightGrad, problem.splitWeightGrad) << name;
    for (uint32_t k = 0; k < problem.virtualStages(); ++k)
      EXPECT_EQ(read->problem.place(k), problem.place(k)) << name << " " << k;
    EXPECT_EQ(text(judge(*read, {})), "") << name;
  }
}

TEST(UserSchedule, WhatBeginsIsUpdated) {
  std::istringstream table(printTables(solved("1f1b", problemOf(2, 3))));
  std::string cut;
  for (std::string line; std::getline(table, line);)
    if (line.find(": update") == std::string::npos)
      cut += line + "\n";
  EXPECT_EQ(verdict(cut), "stage 0 never runs update\nstage 1 never runs update\n");
}

TEST(UserSchedule, WholeStepsAreAskedFor) {
  auto whole = [](std::string_view source) {
    Faults faults;
    EXPECT_FALSE(readSchedule(source, /*wholeStep=*/true, faults));
    return text(faults);
  };
  EXPECT_EQ(whole("0SEND_F0\n1RECV_F0\n"), "it is a piece of a step; only whole steps can be run\n");
  Problem evaluation = problemOf(2, 2);
  evaluation.evaluate = true;
  EXPECT_EQ(whole(printTables(solved("1f1b", evaluation))), "it is an evaluation; a step of training is needed\n");
  EXPECT_EQ(
      whole("schedule stages 2 chunks 1 microbatches 1\nmessage activation 0.0 -> 1.0\nmessage activation 1.0 -> "
            "0.0\nstage 0 slots 1 streams compute\nstage 1 slots 1 streams compute\n"),
      "activations lead through 0 of 2 chunks; messages must join all chunks, but where chunks that follow each other "
      "lie on one stage\n");
}

TEST(UserSchedule, WhatProgramsCannotRun) {
  Faults faults;
  std::optional<Tables> tables = parseTables(R"(schedule stages 2 chunks 1 microbatches 1
message activation 0.0 -> 1.0 on ring
stage 0 slots 1 streams compute
  compute: send activation c0 m0 to 1 slot 0
stage 1 slots 1 streams compute, receive
  receive: forward c0 m0 slot 0
)",
                                             faults);
  ASSERT_TRUE(tables.has_value()) << text(faults);
  checkRunnable(*tables, faults);
  EXPECT_EQ(
      text(faults),
      "it names communicators; a program has one for each directed edge\n"
      "stage 0 has the send of the activation of microbatch 0 to stage 1 on stream compute; bodies stand on the first "
      "stream, compute, and messages on others\n"
      "stage 1 has the forward of microbatch 0 on stream receive; bodies stand on the first stream, compute, and "
      "messages on others\n");
}

/// Four ranks with two pieces of the model each, 1F1B over the two, two microbatches; on one communicator or one an
/// edge.
std::string loop(bool oneCommunicator, Semantics semantics) {
  Faults faults;
  std::optional<UserSchedule> schedule = readSchedule("0F0 0F1 4F0 4F1 4B0 4B1 0B0 0B1\n"
                                                      "1F0 1F1 5F0 5F1 5B0 5B1 1B0 1B1\n"
                                                      "2F0 2F1 6F0 6F1 6B0 6B1 2B0 2B1\n"
                                                      "3F0 3F1 7F0 7B0 7F1 7B1 3B0 3B1\n",
                                                      /*wholeStep=*/false, faults);
  EXPECT_TRUE(schedule.has_value()) << text(faults);
  if (!schedule)
    return "";
  if (oneCommunicator) {
    schedule->tables.communicators.assign(schedule->tables.messages.size(), 0);
    schedule->tables.communicatorNames = {"ring"};
  }
  return text(judge(*schedule, semantics));
}

TEST(UserSchedule, LoopOnOneCommunicator) {
  EXPECT_EQ(loop(false, {}), "");
  EXPECT_EQ(loop(true, {}), ""); // only NCCL runs the messages of a communicator in order
  EXPECT_EQ(loop(false, {.nccl = true}), "");
  std::string verdict = loop(true, {.nccl = true});
  EXPECT_THAT(verdict, testing::StartsWith("deadlock with nccl sends: "));
  EXPECT_THAT(verdict, testing::HasSubstr("launched before it on communicator ring"));
  // With one kernel at work at a time the order of launch counts over all communicators.
  EXPECT_THAT(
      loop(false, {.nccl = true, .resident = 1}),
      testing::HasSubstr("communication kernels at work at a time, 1 is stated; fewer are taken in the order of "
                         "launch, and over all communicators and ranks that order is a circle of"));
}

} // namespace
} // namespace hocket::schedule
