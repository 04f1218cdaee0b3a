// Wrong tables, each made from a right one by one corruption, and what the judge says: the whole message.
#include "ScheduleTesting.h"
#include "passes/Schedule/TableText.h"

namespace hocket::schedule {
namespace {

/// 1F1B tables that a test damages. Rows are found by how their printed line begins.
struct Damaged {
  explicit Damaged(uint32_t stages, uint32_t microbatches, const char *name = "1f1b")
      : problem(problemOf(stages, microbatches)), tables(solved(name, problem)) {}

  size_t find(uint32_t stage, std::string_view start) const {
    const std::vector<Row> &rows = tables.stages[stage].rows;
    for (size_t i = 0; i < rows.size(); ++i)
      if (printRow(tables, stage, rows[i]).starts_with(start))
        return i;
    ADD_FAILURE() << "no row " << start;
    return 0;
  }
  Row &row(uint32_t stage, std::string_view start) { return tables.stages[stage].rows[find(stage, start)]; }

  /// Takes a row out and lowers the waits that counted it.
  void erase(uint32_t stage, std::string_view start) {
    std::vector<Row> &rows = tables.stages[stage].rows;
    size_t at = find(stage, start);
    uint8_t stream = rows[at].stream;
    uint32_t before =
        uint32_t(std::count_if(rows.begin(), rows.begin() + at, [&](const Row &r) { return r.stream == stream; }));
    rows.erase(rows.begin() + at);
    for (Row &row : rows)
      if (row.wait[stream] > before)
        --row.wait[stream];
  }
  std::string verdict(Semantics semantics = {}) const { return text(judge(problem, tables, semantics)); }

  Problem problem;
  Tables tables;
};

TEST(Judge, DroppedWait) {
  Damaged d(2, 2);
  d.row(1, "compute: forward c0 m1").wait = {};
  EXPECT_EQ(d.verdict(),
            "stage 1, time 3: forward of microbatch 1 does not wait for the receive of the activation of microbatch "
            "1 from stage 0\n  stage 1, time 3: receive of the activation of microbatch 1 from stage 0\n");
}

TEST(Judge, SendBeforeItsForward) {
  Damaged d(2, 1);
  d.row(0, "send_next: send activation c0 m0").wait = {};
  EXPECT_EQ(d.verdict(),
            "stage 0, time 0: send of the activation of microbatch 0 to stage 1 does not wait for the forward of "
            "microbatch 0\n  stage 0, time 0: forward of microbatch 0\n");
}

TEST(Judge, SwappedSends) {
  Damaged d(2, 2, "gpipe");
  Row &first = d.row(0, "send_next: send activation c0 m0"), &second = d.row(0, "send_next: send activation c0 m1");
  std::swap(first.microbatch, second.microbatch);
  std::swap(first.slot, second.slot);
  std::swap(first.wait, second.wait);
  EXPECT_EQ(d.verdict(), "edge 0 -> 1: message 0 is sent as one and received as another\n"
                         "  stage 0, time 2: send of the activation of microbatch 1 to stage 1\n"
                         "  stage 1, time 2: receive of the activation of microbatch 0 from stage 0\n");
}

TEST(Judge, DuplicateForward) {
  Damaged d(2, 2);
  std::vector<Row> &rows = d.tables.stages[0].rows;
  Row again = d.row(0, "compute: forward c0 m1");
  rows.insert(rows.end() - 1, again);
  EXPECT_EQ(d.verdict(), "stage 0, time 6: forward of microbatch 1 for the second time\n"
                         "  stage 0, time 1: forward of microbatch 1\n");
}

TEST(Judge, MissingBodies) {
  Damaged d(2, 6);
  for (const char *microbatch : {"m1", "m3", "m4"})
    d.erase(1, std::string("compute: backward c0 ") + microbatch);
  d.erase(0, "compute: begin");
  d.erase(1, "compute: update");
  EXPECT_THAT(d.verdict(), testing::HasSubstr("stage 0 never runs begin\n"));
  EXPECT_THAT(d.verdict(), testing::HasSubstr("stage 1 never runs update\n"));
  EXPECT_THAT(d.verdict(), testing::HasSubstr("stage 1 never runs backward of microbatches 1, 3-4\n"));
}

TEST(Judge, MissingReceive) {
  Damaged d(2, 3);
  d.erase(1, "receive_previous: receive activation c0 m1");
  EXPECT_EQ(d.verdict(), "stage 1 never receives the activation of microbatch 1 from stage 0\n");
}

TEST(Judge, MissingSend) {
  Damaged d(2, 3);
  d.erase(1, "send_previous: send gradient c0 m2");
  EXPECT_EQ(d.verdict(), "stage 1 never sends the gradient of microbatch 2 to stage 0\n");
}

TEST(Judge, SlotReusedEarly) {
  Damaged d(3, 3);
  // Stage 1 has two slots; its third microbatch goes into the first while its gradient may still be leaving.
  d.row(1, "receive_previous: receive activation c0 m2").wait = {};
  EXPECT_EQ(d.verdict(), "stage 1, time 3: receive of the activation of microbatch 2 from stage 0 writes slot 0 while "
                         "microbatch 0 may still "
                         "use it\n"
                         "  stage 1, time 1: forward of microbatch 0\n"
                         "  stage 1, time 2: send of the activation of microbatch 0 to stage 2\n"
                         "  stage 1, time 4: receive of the gradient of microbatch 0 from stage 2\n"
                         "  stage 1, time 4: backward of microbatch 0\n"
                         "  stage 1, time 5: send of the gradient of microbatch 0 to stage 0\n");
}

TEST(Judge, SlotReusedBeforeItsSend) {
  Damaged d(2, 2);
  // Only the backward is waited for, not the send of what it made.
  Row &receive = d.row(1, "receive_previous: receive activation c0 m1");
  receive.wait = {3};
  EXPECT_EQ(d.verdict(), "stage 1, time 3: receive of the activation of microbatch 1 from stage 0 writes slot 0 while "
                         "microbatch 0 may still "
                         "use it\n  stage 1, time 3: send of the gradient of microbatch 0 to stage 0\n");
}

TEST(Judge, TwoSlotsForOneMicrobatch) {
  Damaged d(1, 2, "gpipe");
  d.row(0, "compute: backward c0 m1").slot = 0;
  EXPECT_EQ(d.verdict(), "stage 0, time 3: backward of microbatch 1 uses slot 0, but its microbatch lies in slot 1\n"
                         "  stage 0, time 1: forward of microbatch 1\n");
}

TEST(Judge, MoreInFlightThanAllowed) {
  Damaged d(2, 4, "gpipe");
  d.problem.maxInFlight = 2;
  EXPECT_EQ(d.verdict(), "stage 0 has 4 slots; at most 2 microbatches may be in flight\n"
                         "stage 1 has 4 slots; at most 2 microbatches may be in flight\n");
}

TEST(Judge, WeightGradientsOutOfOrder) {
  Damaged d(1, 3, "gpipe");
  Row &first = d.row(0, "compute: backward c0 m1"), &second = d.row(0, "compute: backward c0 m2");
  std::swap(first, second);
  EXPECT_EQ(d.verdict(),
            "stage 0, time 4: backward of microbatch 2 adds weight gradients before those of microbatch 1\n"
            "  stage 0, time 5: backward of microbatch 1\n");
}

TEST(Judge, UpdateBeforeTheLastBackward) {
  Damaged d(1, 1);
  std::swap(d.row(0, "compute: backward"), d.row(0, "compute: update"));
  EXPECT_EQ(d.verdict(), "stage 0, time 1: update does not wait for the backward of microbatch 0\n"
                         "  stage 0, time 1: backward of microbatch 0\n");
}

TEST(Judge, EvalEntry) {
  Damaged d(1, 2);
  d.problem.evaluate = d.problem.evaluateUpdate = true;
  d.tables = solved("1f1b", d.problem);
  EXPECT_EQ(d.verdict(), "");
  std::swap(d.row(0, "compute: evaluate c0 m1"), d.row(0, "compute: update"));
  EXPECT_EQ(d.verdict(), "stage 0, time 1: update does not wait for the evaluate of microbatch 1\n"
                         "  stage 0, time 1: evaluate of microbatch 1\n");
}

// The forward of the first stage asks for the gradient of its own microbatch.
TEST(Judge, CyclicMessages) {
  Damaged d(2, 1);
  d.row(0, "compute: forward c0 m0").wait[2] = 1;
  EXPECT_EQ(
      d.verdict(),
      "deadlock with rendezvous sends: 3 rows wait for each other, 10 of 12 rows never run after time 0\n"
      "  stage 0, time 0: forward of microbatch 0 waits for the receive of the gradient of microbatch 0 from stage 1\n"
      "  stage 0, time 0: receive of the gradient of microbatch 0 from stage 1 waits for the send of the activation of "
      "microbatch 0 to stage 1\n"
      "  stage 0, time 0: send of the activation of microbatch 0 to stage 1 waits for the forward of microbatch 0\n");
}

// What a slot's next user may overwrite is known on stage 0 only by way of stage 1, which stands: that is said, and
// what the stage itself shows is judged.
TEST(Judge, DeadlockLeavesSomeOrdersOpen) {
  Damaged d(2, 4);
  d.row(0, "receive_next: receive gradient c0 m0").wait = {};
  EXPECT_EQ(d.verdict(), "");
  d.row(1, "compute: forward c0 m0").wait[1] = 2;
  d.row(0, "send_next: send activation c0 m3").wait = {};
  std::string said = d.verdict();
  EXPECT_NE(said.find("deadlock with rendezvous sends: 3 rows wait for each other"), std::string::npos) << said;
  EXPECT_NE(
      said.find("\n  stage 0: not judged, since only rows that never run say so: that forward of microbatch 2 waits "
                "for the send of the activation of microbatch 0 to stage 1\n"),
      std::string::npos)
      << said;
  EXPECT_NE(
      said.find("\nstage 0, never: send of the activation of microbatch 3 to stage 1 does not wait for the forward "
                "of microbatch 3\n"),
      std::string::npos)
      << said;
}

// A wait on the wrong stream makes the circle, and is missing where it belongs: what follows from either is no fault of
// its own.
TEST(Judge, WaitOnTheWrongStream) {
  Damaged d(3, 3);
  d.row(1, "compute: backward c0 m0").wait = {0, 0, 1}; // not for its gradient, but for the send of what it makes
  std::string said = d.verdict();
  EXPECT_THAT(said, testing::StartsWith("deadlock with rendezvous sends: 2 rows wait for each other"));
  EXPECT_THAT(said, testing::HasSubstr("\n  stage 1, never: backward of microbatch 0 does not wait for the receive of "
                                       "the gradient of microbatch 0 from stage 2\n"));
  EXPECT_EQ(judge(d.problem, d.tables).size(), 1u) << said;
}

TEST(Judge, CircleOfWaitsIsNoneOfLaunches) {
  Damaged d(2, 4);
  d.row(1, "compute: forward c0 m0").wait[2] = 1;
  EXPECT_EQ(judge(d.problem, d.tables, {.nccl = true, .resident = 1}).size(), 1u)
      << d.verdict({.nccl = true, .resident = 1});
}

TEST(Judge, FaultsOfShape) {
  Damaged d(2, 2);
  std::vector<Row> &rows = d.tables.stages[0].rows;
  rows[1].wait[1] = 9;
  rows[2].index = 7;
  rows[3].microbatch = 2;
  rows[4].slot = 2;
  rows[5].stream = 3;
  EXPECT_EQ(d.verdict(), "stage 0, row 1 waits for 9 rows of stream send_next, which has 2\n"
                         "stage 0, row 2 has message 7; legal: 0..1\n"
                         "stage 0, row 3 has microbatch 2; legal: 0..1\n"
                         "stage 0, row 4 has slot 2; legal: 0..1\n"
                         "stage 0, row 5 has stream 3; legal: 0..2\n"
                         "stage 0, row 8 waits for 2 rows of stream receive_next, which has 1\n");
}

TEST(Judge, TablesOfAnotherProblem) {
  Damaged d(2, 2);
  d.problem = problemOf(3, 4);
  EXPECT_EQ(d.verdict(),
            "the tables are for 2 stages, the problem has 3\nthe tables are for 2 microbatches, the problem has 4\n");
  d.problem = problemOf(2, 2);
  d.problem.evaluate = true;
  EXPECT_EQ(
      d.verdict(),
      "message gradient from stage 1 chunk 0 to stage 0 chunk 0: no neighbouring chunks of the model lie there\n");
}

// Every wait that a solver writes is needed: without it the judge refuses. (Those of a gradient's receive hold by way
// of the next stage, which cannot send a gradient before it has the activation.)
TEST(Judge, EveryWaitIsNeeded) {
  for (const char *name : {"gpipe", "1f1b"}) {
    Damaged d(3, 5, name);
    for (Table &table : d.tables.stages)
      for (Row &row : table.rows)
        for (uint32_t &wait : row.wait) {
          bool gradient = row.kind == RowKind::Receive && d.tables.messages[row.index].values == Values::Gradient;
          uint32_t kept = std::exchange(wait, 0);
          if (kept)
            EXPECT_EQ(d.verdict().empty(), gradient) << name << ": " << describe(d.tables, row);
          wait = kept;
        }
  }
}

// Tables that lack one row are never accepted.
TEST(Judge, EveryRowIsNeeded) {
  Damaged right(3, 4);
  for (uint32_t stage = 0; stage < 3; ++stage)
    for (size_t i = 0; i < right.tables.stages[stage].rows.size(); ++i) {
      Damaged d = right;
      d.erase(stage, printRow(d.tables, stage, d.tables.stages[stage].rows[i]));
      EXPECT_NE(d.verdict(), "") << printRow(right.tables, stage, right.tables.stages[stage].rows[i]);
    }
}

// Two chunks a stage, down and up again: the last stage hands over to itself, edges carry activations and gradients.
Problem placedInAV(uint32_t p, uint32_t m) {
  Problem problem = problemOf(p, m);
  problem.chunks = 2;
  for (uint32_t s = 0; s < p; ++s)
    problem.placement.push_back({s, 0});
  for (uint32_t s = p; s-- > 0;)
    problem.placement.push_back({s, 1});
  return problem;
}

Tables allForwardsThenAllBackwards(const Problem &problem) {
  Orders orders(problem.stages);
  for (auto [kind, chunk] :
       {std::pair(BodyKind::Forward, 0), {BodyKind::Forward, 1}, {BodyKind::Backward, 1}, {BodyKind::Backward, 0}})
    for (std::vector<Step> &order : orders)
      for (uint32_t i = 0; i < problem.microbatches; ++i)
        order.push_back({kind, uint16_t(chunk), i});
  Faults faults;
  std::optional<Tables> tables = assemble(problem, orders, faults);
  EXPECT_TRUE(tables.has_value()) << text(faults);
  return tables.value_or(Tables());
}

TEST(Judge, ChunksInAV) {
  for (uint32_t p : {1, 2, 4})
    for (uint32_t m : {1, 3, 8}) {
      Problem problem = placedInAV(p, m);
      EXPECT_EQ(text(judge(problem, allForwardsThenAllBackwards(problem))), "") << "p=" << p << " m=" << m;
    }
}

TEST(Judge, ChunkBeforeTheOneItReads) {
  Damaged d(2, 1);
  d.problem = placedInAV(2, 1);
  d.tables = allForwardsThenAllBackwards(d.problem);
  std::swap(d.row(1, "compute: forward c0").index, d.row(1, "compute: forward c1").index);
  EXPECT_THAT(d.verdict(),
              testing::HasSubstr("stage 1, time 1: forward of microbatch 0 (chunk 1) does not wait for the forward of "
                                 "microbatch 0 (chunk 0)\n"));
}

/// One stage of two chunks, two microbatches, bodies in the given slots.
Damaged oneStageOfTwoChunks(std::array<uint32_t, 8> slots) {
  Damaged d(1, 2);
  d.problem = placedInAV(1, 2);
  d.tables = allForwardsThenAllBackwards(d.problem);
  d.tables.stages[0].slots = 2;
  using enum BodyKind;
  const Step steps[] = {{Forward, 0, 0},  {Forward, 1, 0}, {Backward, 1, 0}, {Forward, 0, 1},
                        {Backward, 0, 0}, {Forward, 1, 1}, {Backward, 1, 1}, {Backward, 0, 1}};
  std::vector<Row> &rows = d.tables.stages[0].rows;
  rows = {Row{RowKind::Body, 0, bodyIndex(Begin, 0)}};
  for (size_t i = 0; i < slots.size(); ++i)
    rows.push_back(Row{RowKind::Body, 0, bodyIndex(steps[i].kind, steps[i].chunk), steps[i].microbatch, slots[i]});
  rows.push_back(Row{RowKind::Body, 0, bodyIndex(Update, 0)});
  return d;
}

// Chunks that follow each other on one stage hand over in place, so the slot is taken until the first chunk's backward.
TEST(Judge, ChunksInAChainShareASlot) {
  EXPECT_EQ(oneStageOfTwoChunks({0, 0, 0, 1, 0, 1, 1, 1}).verdict(), "");
  EXPECT_EQ(
      oneStageOfTwoChunks({0, 0, 0, 0, 0, 0, 0, 0}).verdict(),
      "stage 0, time 3: forward of microbatch 1 (chunk 0) writes slot 0 while microbatch 0 (chunk 0) may still use it\n"
      "  stage 0, time 4: backward of microbatch 0 (chunk 0)\n");
  EXPECT_EQ(oneStageOfTwoChunks({0, 0, 0, 1, 0, 0, 1, 1}).verdict(),
            "stage 0, time 5: forward of microbatch 1 (chunk 1) uses slot 0, but its microbatch lies in slot 1\n"
            "  stage 0, time 3: forward of microbatch 1 (chunk 0)\n");
}

TEST(Judge, ManyFaultsAreCounted) {
  Damaged d(1, 400, "gpipe");
  for (Row &row : d.tables.stages[0].rows)
    if (bodyKind(row) == BodyKind::Backward)
      row.slot = (row.slot + 1) % 400;
  Faults faults = judge(d.problem, d.tables);
  ASSERT_EQ(faults.size(), maxFaults + 1);
  EXPECT_EQ(faults.back().text, "300 more faults");
}

} // namespace
} // namespace hocket::schedule
