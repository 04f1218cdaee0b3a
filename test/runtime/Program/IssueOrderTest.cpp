// The order in which rows are issued, the proof of it that reads a file, and the calls of NCCL that follow from it.
#include "runtime/Program/IssueOrder.h"
#include "GpuSample.h"
#include "runtime/Program/Calls.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>

using namespace hocket::program;
using hocket::sample::cudaSample;
using hocket::sample::faultsOf;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {
EntryT &train(ProgramT &program, int stage) { return *program.ranks[static_cast<size_t>(stage)]->entries[0]; }

// "begin F0 send:h0 receive:dh0 B0"
std::string text(const ProgramT &program, int stage) {
  const RankProgramT &rank = *program.ranks[static_cast<size_t>(stage)];
  std::string result;
  for (const Row &row : rank.entries[0]->rows) {
    std::string name;
    if (row.kind() == RowKind::Body) {
      name = rank.bodies[row.index()]->name;
      if (name != "begin" && name != "update")
        name = fmt::format("{}{}", name[0] == 'f' ? 'F' : 'B', row.microbatch());
    } else {
      name = fmt::format("{}:{}{}", row.kind() == RowKind::Send ? "send" : "receive", rank.messages[row.index()]->name,
                         row.microbatch());
    }
    result += (result.empty() ? "" : " ") + name;
  }
  return result;
}

// Moves a row of the entry to another place.
void move(EntryT &entry, size_t from, size_t to) {
  Row row = entry.rows[from];
  entry.rows.erase(entry.rows.begin() + static_cast<std::ptrdiff_t>(from));
  entry.rows.insert(entry.rows.begin() + static_cast<std::ptrdiff_t>(to), row);
}

size_t placeOf(const EntryT &entry, RowKind kind, uint16_t index, uint32_t microbatch) {
  auto found = std::find_if(entry.rows.begin(), entry.rows.end(), [&](const Row &row) {
    return row.kind() == kind && row.index() == index && row.microbatch() == microbatch;
  });
  return static_cast<size_t>(found - entry.rows.begin());
}

TEST(IssueOrder, IsThatOfOneExecution) {
  ProgramT program = cudaSample();
  EXPECT_EQ(text(program, 0),
            "begin F0 send:h0 F1 send:h1 receive:dh0 B0 F2 receive:dh1 send:h2 B1 receive:dh2 B2 update");
  EXPECT_EQ(text(program, 1),
            "begin receive:h0 F0 receive:h1 B0 send:dh0 F1 B1 send:dh1 receive:h2 F2 B2 send:dh2 update");
  EXPECT_THAT(faultsOf(program), IsEmpty());
}

TEST(IssueOrder, IsTheOrderOfTheFile) {
  flatbuffers::FlatBufferBuilder builder;
  ProgramT program = cudaSample();
  builder.Finish(Program::Pack(builder, &program));
  const Entry &entry = *flatbuffers::GetRoot<Program>(builder.GetBufferPointer())->ranks()->Get(0)->entries()->Get(0);
  std::vector<uint32_t> order = issueOrder(entry);
  ASSERT_EQ(order.size(), entry.rows()->size());
  for (uint32_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i], i);
}

TEST(IssueOrder, ThereIsNoneWhereRowsWaitForEachOther) {
  ProgramT program = cudaSample();
  // stage 0 sends h0 only after the gradient that comes of it
  Row &send = train(program, 0).rows[placeOf(train(program, 0), RowKind::Send, 0, 0)];
  uint32_t received = 1;
  std::memcpy(reinterpret_cast<uint8_t *>(&send) + sizeof(Row) - 32 + 4 * 2, &received, 4);
  EXPECT_FALSE(hocket::sample::orderRows(program));
}

TEST(IssueOrder, WaitsAreForRowsAbove) {
  ProgramT program = cudaSample();
  move(train(program, 0), placeOf(train(program, 0), RowKind::Send, 0, 0), 1);
  EXPECT_THAT(
      faultsOf(program),
      ElementsAre("stage 0 entry 'train' row 1: waits for 2 rows of stream 0, 1 of which stand above; the rows of "
                  "a program for cuda are issued as they stand"));
  program.target = "cpu"; // whose streams run rows as they become ready
  for (auto &kernel : program.kernels)
    kernel->gpu = nullptr;
  for (auto &rank : program.ranks)
    rank->scratchBytes = rank->productsBytes = 0;
  EXPECT_THAT(faultsOf(program), IsEmpty());
}

// As a schedule of one forward and one backward names its messages: a receive stands before the body that needs it.
TEST(IssueOrder, NoCircleOfMessages) {
  ProgramT program = cudaSample();
  EntryT &last = train(program, 1);
  move(last, placeOf(last, RowKind::Receive, 0, 1), placeOf(last, RowKind::Send, 1, 0));
  EXPECT_EQ(text(program, 1),
            "begin receive:h0 F0 B0 send:dh0 receive:h1 F1 B1 send:dh1 receive:h2 F2 B2 send:dh2 update");
  EXPECT_THAT(
      faultsOf(program),
      ElementsAre("entry 'train': the order in which calls are issued is a circle: stage 1 issues the call of row "
                  "4 on 'pp 1->0' before that on 'pp 0->1', stage 0 issues the call of row 4 on 'pp 0->1' before "
                  "that on 'pp 1->0'"));
}

// A collective over all stages belongs behind the messages of all of them.
TEST(IssueOrder, NoCircleWithACollective) {
  ProgramT program = cudaSample();
  EntryT &last = train(program, 1);
  move(last, last.rows.size() - 1, placeOf(last, RowKind::Send, 1, 2));
  EXPECT_EQ(text(program, 1),
            "begin receive:h0 F0 receive:h1 B0 send:dh0 F1 B1 send:dh1 receive:h2 F2 B2 update send:dh2");
  // The update waits for all that were sent.
  Row &update = last.rows[placeOf(last, RowKind::Body, 3, 0)];
  uint32_t none = 0;
  std::memcpy(reinterpret_cast<uint8_t *>(&update) + sizeof(Row) - 32 + 4 * 2, &none, 4);
  EXPECT_THAT(
      faultsOf(program),
      ElementsAre("entry 'train': the order in which calls are issued is a circle: stage 1 issues the call of row "
                  "12 on 'pp,dp' before that on 'pp 1->0', stage 0 issues the call of row 11 on 'pp 1->0' before "
                  "that on 'pp,dp'"));
}

// "ncclSend 8 F32 on 'pp 0->1', stream send, to 1, group 0"
std::vector<std::string> calls(const ProgramT &from, uint32_t stage) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &from));
  const Program &program = *flatbuffers::GetRoot<Program>(builder.GetBufferPointer());
  const RankProgram &rank = *program.ranks()->Get(stage);
  const Entry &entry = *rank.entries()->Get(0);
  std::vector<std::string> lines;
  forEachCall(program, rank, entry, [&](const Call &call) {
    lines.push_back(fmt::format("{} {} {} ({} bytes) on '{}', stream {}, peer {}{}, group {}, row {}.{}",
                                functionName(call.function), call.count, EnumNameDType(call.type), call.bytes(),
                                program.communicators()->Get(call.communicator)->name()->string_view(),
                                streamName(rank, entry, call.stream), call.relative ? "+" : "", call.peer, call.group,
                                call.row, call.instruction));
  });
  return lines;
}

TEST(Calls, StandInTheOrderOfIssue) {
  EXPECT_THAT(calls(cudaSample(), 0),
              ElementsAre("ncclSend 8 F32 (32 bytes) on 'pp 0->1', stream send, peer 1, group 0, row 2.0",
                          "ncclSend 8 F32 (32 bytes) on 'pp 0->1', stream send, peer 1, group 1, row 4.0",
                          "ncclRecv 8 F32 (32 bytes) on 'pp 1->0', stream receive, peer 0, group 2, row 5.0",
                          "ncclRecv 8 F32 (32 bytes) on 'pp 1->0', stream receive, peer 0, group 3, row 8.0",
                          "ncclSend 8 F32 (32 bytes) on 'pp 0->1', stream send, peer 1, group 4, row 9.0",
                          "ncclRecv 8 F32 (32 bytes) on 'pp 1->0', stream receive, peer 0, group 5, row 11.0",
                          "ncclAllReduce 2 F32 (8 bytes) on 'pp,dp', stream compute, peer 0, group 6, row 13.0",
                          "ncclReduceScatter 3 F32 (12 bytes) on 'dp', stream compute, peer 0, group 7, row 13.1",
                          "ncclAllGather 3 F32 (12 bytes) on 'dp', stream compute, peer 0, group 8, row 13.3"));
}

// The update of stage 0 with its reduction as `op`, from 24 bytes to 24.
ProgramT withExchange(Op op) {
  ProgramT program = cudaSample();
  InstructionT &instruction = *program.ranks[0]->bodies[3]->instructions[1];
  instruction.op = op;
  instruction.written.clear();
  program.ranks[0]->arenaBytes += 24;
  instruction.buffers[1] = Buffer(Space::Arena, program.ranks[0]->arenaBytes - 24, 24);
  EXPECT_THAT(faultsOf(program), IsEmpty());
  return program;
}

TEST(Calls, ExchangesAreGroups) {
  std::vector<std::string> all = calls(withExchange(Op::AllToAll), 0), ring = calls(withExchange(Op::Shift), 0);
  EXPECT_THAT(std::vector(all.begin() + 7, all.end() - 1),
              ElementsAre("ncclSend 3 F32 (12 bytes) on 'dp', stream compute, peer 0, group 7, row 13.1",
                          "ncclRecv 3 F32 (12 bytes) on 'dp', stream compute, peer 0, group 7, row 13.1",
                          "ncclSend 3 F32 (12 bytes) on 'dp', stream compute, peer 1, group 7, row 13.1",
                          "ncclRecv 3 F32 (12 bytes) on 'dp', stream compute, peer 1, group 7, row 13.1"));
  EXPECT_THAT(std::vector(ring.begin() + 7, ring.end() - 1),
              ElementsAre("ncclSend 6 F32 (24 bytes) on 'dp', stream compute, peer +1, group 7, row 13.1",
                          "ncclRecv 6 F32 (24 bytes) on 'dp', stream compute, peer +1, group 7, row 13.1"));
}

TEST(Calls, OfAnOddNumberOfElementsAreOfHalves) {
  ProgramT program = cudaSample();
  for (auto &rank : program.ranks)
    rank->messages[0]->buffer = std::make_unique<Buffer>(Space::Slot, 0, 30);
  EXPECT_EQ(calls(program, 0)[0], "ncclSend 15 BF16 (30 bytes) on 'pp 0->1', stream send, peer 1, group 0, row 2.0");
}
} // namespace
