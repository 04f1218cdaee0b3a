// Tables as text: what is printed reads back, and what cannot be read is told line by line.
#include "passes/Schedule/TableText.h"
#include "ScheduleTesting.h"

#include <fmt/format.h>
#include <random>

namespace hocket::schedule {
namespace {

const char *const twoStages = R"(schedule stages 2 chunks 1 microbatches 2
message activation 0.0 -> 1.0
message gradient 1.0 -> 0.0
stage 0 slots 2 streams compute, send_next, receive_next
  compute: begin
  compute: forward c0 m0 slot 0
  send_next: send activation c0 m0 to 1 slot 0 after compute 2
  compute: forward c0 m1 slot 1
  send_next: send activation c0 m1 to 1 slot 1 after compute 3
  receive_next: receive gradient c0 m0 from 1 slot 0 after send_next 1
  compute: backward c0 m0 slot 0 after receive_next 1
  receive_next: receive gradient c0 m1 from 1 slot 1 after send_next 2
  compute: backward c0 m1 slot 1 after receive_next 2
  compute: update
stage 1 slots 1 streams compute, receive_previous, send_previous
  compute: begin
  receive_previous: receive activation c0 m0 from 0 slot 0
  compute: forward c0 m0 slot 0 after receive_previous 1
  compute: backward c0 m0 slot 0
  send_previous: send gradient c0 m0 to 0 slot 0 after compute 3
  receive_previous: receive activation c0 m1 from 0 slot 0 after send_previous 1
  compute: forward c0 m1 slot 0 after receive_previous 2
  compute: backward c0 m1 slot 0
  send_previous: send gradient c0 m1 to 0 slot 0 after compute 5
  compute: update
)";

std::string faultsOf(std::string_view source) {
  Faults faults;
  EXPECT_FALSE(parseTables(source, faults).has_value());
  return text(faults);
}

TEST(TableText, OneFOneBOnTwoStages) { EXPECT_EQ(printTables(solved("1f1b", problemOf(2, 2))), twoStages); }

TEST(TableText, RoundTrip) {
  for (uint32_t p : {1, 2, 5})
    for (bool split : {false, true}) {
      Problem problem = problemOf(p, 4);
      problem.splitWeightGrad = split;
      Tables tables = solved("1f1b", problem);
      Faults faults;
      std::optional<Tables> back = parseTables(printTables(tables), faults);
      ASSERT_TRUE(back.has_value()) << text(faults);
      EXPECT_EQ(*back, tables);
    }
}

TEST(TableText, MessageNames) {
  Message message{Values::Gradient, 3, 2, 1, 0};
  EXPECT_EQ(name(message), "gradient 3.1 -> 2.0");
  EXPECT_EQ(parseMessage(name(message)), message);
  for (const char *bad :
       {"", "gradient", "gradient 3.1 -> 2", "gradient 3.1 -> 2.0 ", "sum 3.1 -> 2.0", "gradient 3.99999 -> 2.0"})
    EXPECT_FALSE(parseMessage(bad)) << bad;
}

TEST(TableText, CommentsAndBlanks) {
  Faults faults;
  std::optional<Tables> tables = parseTables("// a header\n\nschedule stages 1 chunks 1 microbatches 1 // one\r\n"
                                             "stage 0 slots 0 streams compute\ncompute :update",
                                             faults);
  ASSERT_TRUE(tables.has_value()) << text(faults);
  EXPECT_EQ(bodyKind(tables->stages[0].rows.at(0)), BodyKind::Update);
}

TEST(TableText, EveryFaultIsTold) {
  EXPECT_EQ(faultsOf(R"(schedule stages 2 chunks 1 microbatches 2
message activation 0.0 -> 1.0
message sum 0.0 -> 1.0
message gradient 1.0 -> 2.0
message gradient 1.0 -> 1.0
stage 0 slots 2 streams compute, send_next
  compute: forwards c0 m0 slot 0
  compute: forward c1 m0 slot 0
  compute: forward c0 m2 slot 0
  compute: forward c0 m0 slot 2
  compute: forward c0 m0 slot
  sendnext: send activation c0 m0 to 1 slot 0
  send_next: send gradient c0 m0 to 1 slot 0
  send_next: send activation c0 m0 to 1 slot 0 after compute 0
  send_next: send activation c0 m0 to 1 slot 0 after comput 1
  compute: update now
)"),
            R"(line 3: expected 'activation' or 'gradient', found 'sum'
line 4: stage is 2; legal: 0..1
line 5: a message from stage 1 to itself
line 7: expected one of send, receive, begin, forward, backward, weight_grad, recompute, update, evaluate, found 'forwards'; did you mean 'forward'
line 8: chunk is 1; legal: 0..0
line 9: microbatch is 2; legal: 0..1
line 10: slot is 2; legal: 0..1
line 11: expected slot (a number), found the end of the line
line 12: expected a stream of stage 0 (compute, send_next), found 'sendnext'; did you mean 'send_next'
line 13: no message line declares the gradient that chunk 0 of stage 0 sends to stage 1
line 14: count of rows is 0; legal: 1..4294967295
line 15: expected a stream of stage 0 (compute, send_next), found 'comput'; did you mean 'compute'
line 16: unexpected 'now' at the end of the line
1 stages are described, the schedule has 2
)");
}

// No stage can use more than a slot for each chunk and microbatch.
TEST(TableText, SlotsAreBounded) {
  auto source = [](const char *slots) {
    return fmt::format("schedule stages 1 chunks 2 microbatches 3\nstage 0 slots {} streams compute\n compute: begin\n",
                       slots);
  };
  Faults faults;
  EXPECT_TRUE(parseTables(source("6"), faults)) << text(faults);
  EXPECT_EQ(faultsOf(source("999999999")), "line 2: slots is 999999999; legal: 0..6\n");
}

// A stage's line that cannot be read is one fault, whatever rows and stages follow it; faults of these are told.
TEST(TableText, BadStageIsOneFault) {
  auto source = [](const char *stage) {
    return fmt::format("schedule stages 3 chunks 1 microbatches 1\nstage 0 slots 1 streams compute\n{}\n"
                       "  copy: forward c0 m0 slot 0\n  copy: backward c0 m0 slot 0\n"
                       "stage 2 slots 1 streams copy\n  copy: forward c0 m1 slot 0\n",
                       stage);
  };
  const std::string after = "line 7: microbatch is 1; legal: 0..0\n";
  EXPECT_EQ(faultsOf(source("stage 1 slots one streams copy")),
            "line 3: expected slots (a number), found 'one'\n" + after);
  EXPECT_EQ(faultsOf(source("stage 1 slots streams copy")),
            "line 3: expected slots (a number), found 'streams'\n" + after);
  EXPECT_EQ(faultsOf(source("stage 1 slots 2 streams copy")), "line 3: slots is 2; legal: 0..1\n" + after);
  EXPECT_EQ(faultsOf(source("stage 1 slots 1 stream copy")), "line 3: expected 'streams', found 'stream'\n" + after);
  EXPECT_EQ(faultsOf(source("stage 3 slots 1 streams copy")), "line 3: stage is 3; legal: 0..2\n" + after);
  EXPECT_EQ(faultsOf(source("stage 0 slots 1 streams copy")),
            "line 3: stage 0 is described where stage 1 is due\n" + after);
}

// Whatever stands in a file: it is read or told, and what is read can be judged and printed.
TEST(TableText, DamagedText) {
  std::mt19937 random(3);
  const std::string letters = "0123456789 .,:->cmsx\n";
  int parsed = 0;
  for (int draw = 0; draw < 3000; ++draw) {
    std::string source = twoStages;
    for (int change = 0; change <= draw % 3; ++change)
      if (size_t at = random() % source.size(); draw % 2)
        source[at] = letters[random() % letters.size()];
      else if (at = source.find_first_of("0123456789", at); at != std::string::npos)
        source[at] = letters[random() % 3]; // another number, most often a legal one
    Faults faults;
    std::optional<Tables> tables = parseTables(source, faults);
    EXPECT_EQ(tables.has_value(), faults.empty());
    if (!tables)
      continue;
    ++parsed;
    EXPECT_EQ(parseTables(printTables(*tables), faults), tables);
    judge(problemOf(2, 2), *tables);
    judgeMessages(*tables, {1});
  }
  EXPECT_GT(parsed, 100);
}

TEST(TableText, HeaderFaults) {
  EXPECT_EQ(faultsOf(""), "no line 'schedule stages P chunks V microbatches M'\n");
  EXPECT_EQ(faultsOf("stage 0 slots 1 streams compute\nstage 1 slots 1 streams compute\n"),
            "line 1: expected 'schedule stages P chunks V microbatches M' before 'stage'\n"
            "no line 'schedule stages P chunks V microbatches M'\n");
  EXPECT_EQ(faultsOf("schedule stages 0 chunks 1 microbatches 1\n"),
            "line 1: stages is 0; legal: 1..32768\nno line 'schedule stages P chunks V microbatches M'\n");
  EXPECT_EQ(faultsOf("schedule stages 2 chunks 1 microbatches 1\nstage 0 slots 0 streams a, a\n"
                     "stage 1 slots 0 streams compute\n compute: forward c0 m0 slot 0\n"),
            "line 2: stream 'a' is named twice\nline 4: slot 0 is named, there is none\n");
}

} // namespace
} // namespace hocket::schedule
