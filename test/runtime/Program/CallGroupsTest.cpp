// Which collectives are issued together: the table of CallGroups.h, line by line.
#include "runtime/Program/CallGroups.h"
#include "GpuSample.h"
#include "runtime/Program/Calls.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

using namespace hocket::program;
using hocket::sample::cudaSample;

namespace {
enum Communicators : uint32_t { Mesh, Data }; // of the sample: over all stages, within one

std::unique_ptr<InstructionT> make(Op op, uint32_t communicator, uint64_t in, uint64_t out, uint8_t stream = 0) {
  auto made = std::make_unique<InstructionT>();
  made->op = op;
  made->communicator = communicator;
  made->stream = stream;
  made->type = DType::F32;
  made->buffers = {Buffer(Space::Arena, in, 64), Buffer(Space::Arena, out, 64)};
  return made;
}
std::unique_ptr<InstructionT> sum(uint64_t in, uint64_t out, uint8_t stream = 0, uint32_t communicator = Data) {
  return make(Op::AllReduce, communicator, in, out, stream);
}

// By instruction of a body, how many are issued with the first: "2 1" of two in a group and one alone.
template <class... Instructions> std::string groups(Instructions... list) {
  ProgramT program = cudaSample();
  auto &instructions = program.ranks[0]->bodies[3]->instructions;
  instructions.clear();
  (instructions.push_back(std::move(list)), ...);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &program));
  const Program &packed = *flatbuffers::GetRoot<Program>(builder.GetBufferPointer());
  const Body &body = *packed.ranks()->Get(0)->bodies()->Get(3);
  std::string result;
  for (uint32_t i = 0, end; i < body.instructions()->size(); i = end) {
    end = endOfGroup(packed, body, i);
    result += fmt::format("{}{}", i ? " " : "", end - i);
  }
  return result;
}

TEST(CallGroups, SideBySideOnOneCommunicator) {
  EXPECT_EQ(groups(sum(0, 0), sum(64, 64), sum(128, 192)), "3");
  EXPECT_EQ(groups(make(Op::Shift, Data, 0, 64), make(Op::Shift, Data, 128, 192)), "2");
  EXPECT_EQ(groups(make(Op::ReduceScatter, Data, 0, 64), make(Op::AllGather, Data, 128, 192)), "2");
  EXPECT_EQ(groups(sum(0, 64), sum(0, 128)), "2"); // both read it
}

TEST(CallGroups, NotOfTwoCommunicators) { EXPECT_EQ(groups(sum(0, 0), sum(64, 64, 0, Mesh), sum(128, 128)), "1 1 1"); }
TEST(CallGroups, NotAcrossStages) { EXPECT_EQ(groups(sum(0, 0, 0, Mesh), sum(64, 64, 0, Mesh)), "1 1"); }
TEST(CallGroups, NotOfTwoStreams) { EXPECT_EQ(groups(sum(0, 0, 1), sum(64, 64, 1), sum(128, 128, 2)), "2 1"); }
TEST(CallGroups, NotAroundOtherWork) {
  EXPECT_EQ(groups(sum(0, 0), make(Op::Kernel, 0, 64, 64), sum(128, 128), make(Op::Await, 0, 0, 0, 1), sum(192, 192)),
            "1 1 1 1 1");
}
TEST(CallGroups, NotWhereOneNeedsTheOther) {
  EXPECT_EQ(groups(sum(0, 64), sum(64, 128)), "1 1"); // reads what the first writes
  EXPECT_EQ(groups(sum(0, 64), sum(128, 96)), "1 1"); // writes what the first writes, in part
  EXPECT_EQ(groups(sum(0, 64), sum(128, 0)), "1 1");  // writes what the first reads
  EXPECT_EQ(groups(sum(0, 0), sum(64, 64), sum(128, 0), sum(192, 192)), "2 2");
}

// What `explain --calls` numbers is what the runtime groups.
TEST(CallGroups, CallsCarryTheirNumber) {
  ProgramT program = cudaSample();
  auto &instructions = program.ranks[0]->bodies[3]->instructions;
  instructions.clear();
  instructions.push_back(sum(0, 0));
  instructions.push_back(make(Op::Shift, Data, 64, 128));
  instructions.push_back(sum(192, 192, 0, Mesh));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &program));
  const Program &packed = *flatbuffers::GetRoot<Program>(builder.GetBufferPointer());
  const RankProgram &rank = *packed.ranks()->Get(0);
  std::vector<std::string> seen;
  forEachCall(packed, rank, *rank.entries()->Get(0), [&](const Call &call) {
    if (rank.entries()->Get(0)->rows()->Get(call.row)->kind() == RowKind::Body)
      seen.push_back(fmt::format("{} {} {}", functionName(call.function), call.group, call.instruction));
  });
  EXPECT_THAT(seen, testing::ElementsAre("ncclAllReduce 6 0", "ncclSend 6 1", "ncclRecv 6 1", "ncclAllReduce 7 2"));
}
} // namespace
