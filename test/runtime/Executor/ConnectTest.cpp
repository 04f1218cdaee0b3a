// A rank of the sample program over a NCCL that writes down how it is called: which communicators it makes and in which
// order, what a pass calls, and how a pass ends whose peers are in trouble.
#include "GpuSample.h"
#include "Nccl/FakeNccl.h"
#include "Nccl/LonelyWorld.h"
#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Executor/DeviceStep.h"
#include "runtime/Executor/Groups.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

using namespace hocket;
using namespace hocket::runtime;
using testing::ElementsAre;

namespace {
// A device that does nothing, and may never be through with it.
struct IdleDevice : CpuDevice {
  IdleDevice() : CpuDevice(1) {}
  Result<const void *> kernel(std::string_view, std::string_view) override { return static_cast<const void *>(this); }
  Status launch(Stream &, const Launch &) override { return {}; }
  Status gemm(Stream &, const Gemm &, const GemmBuffers &) override { return {}; }
  Result<bool> complete(Event &) override { return !stuck; }
  bool stuck = false;
};

std::vector<uint8_t> sampleFile(const std::function<void(program::ProgramT &)> &change) {
  program::ProgramT program = sample::cudaSample();
  change(program);
  EXPECT_THAT(sample::faultsOf(program), testing::IsEmpty());
  return program::write(program);
}

struct OneRank {
  explicit OneRank(
      int rank, const std::function<void(program::ProgramT &)> &change = [](program::ProgramT &) {})
      : file(sampleFile(change)), program(*program::GetProgram(file.data() + sizeof(program::FileHeader))),
        host(rank, 4), world(host, *nccl::Library::open(HOCKET_FAKE_NCCL), device, {}), arena(1 << 16),
        context(program, static_cast<uint32_t>(rank), arena.data(), world, host, status, device) {
    context.waitSeconds = 10;
    EXPECT_TRUE(context.loadKernels());
  }
  const program::Entry &entry() const { return *context.own.entries()->Get(0); }

  test::FakeNccl fake;
  std::vector<uint8_t> file;
  const program::Program &program;
  test::LonelyWorld host;
  IdleDevice device;
  nccl::NcclWorld world;
  std::vector<std::byte> arena;
  RankStatus status;
  RankContext context;
};

// `3 "pp 0->1" of 0 2`, in the order in which a rank met the others for them.
std::vector<std::string> metFor(const OneRank &rank) {
  std::vector<std::string> result;
  for (const Group &group : rank.host.made)
    result.push_back(fmt::format("{} \"{}\" of {}", group.id, group.name, fmt::join(group.ranks, " ")));
  return result;
}
} // namespace

// Of <pp=2, dp=2>: the whole mesh, each data group, each directed edge; last the hosts among themselves, without NCCL.
TEST(Connect, OneCommunicatorForEachGroupAndDirectedEdge) {
  OneRank first(0);
  ASSERT_TRUE(first.context.connect());
  EXPECT_THAT(metFor(first), ElementsAre("0 \"pp,dp\" of 0 1 2 3", "1 \"dp\" of 0 1", "3 \"pp 0->1\" of 0 2",
                                         "5 \"pp 1->0\" of 2 0", "7 \"all ranks\" of 0 1 2 3"));
  EXPECT_EQ(first.fake.taken(), "init 0 of 4 id 40 blocking 0\ninit 0 of 2 id 41 blocking 0\n"
                                "init 0 of 2 id 43 blocking 0\ninit 1 of 2 id 45 blocking 0\n");
  OneRank last(3);
  ASSERT_TRUE(last.context.connect());
  EXPECT_THAT(metFor(last), ElementsAre("0 \"pp,dp\" of 0 1 2 3", "2 \"dp\" of 2 3", "4 \"pp 0->1\" of 1 3",
                                        "6 \"pp 1->0\" of 3 1", "7 \"all ranks\" of 0 1 2 3"));
  EXPECT_EQ(last.fake.taken(), "init 3 of 4 id 40 blocking 0\ninit 1 of 2 id 42 blocking 0\n"
                               "init 1 of 2 id 44 blocking 0\ninit 0 of 2 id 46 blocking 0\n");
}

// What any two ranks make, they make in the same order, and every group is made by all its members.
TEST(Connect, InOneOrderOnEveryRank) {
  std::map<uint32_t, std::vector<int>> makers;
  std::map<uint32_t, std::vector<int>> members;
  for (int rank = 0; rank < 4; ++rank) {
    OneRank one(rank);
    ASSERT_TRUE(one.context.connect());
    uint32_t next = 0;
    for (const Group &group : one.host.made) {
      EXPECT_GE(group.id, next);
      next = group.id + 1;
      makers[group.id].push_back(rank);
      members[group.id] = group.ranks;
    }
  }
  ASSERT_EQ(members.size(), 8u);
  for (auto &[id, ranks] : members)
    EXPECT_THAT(makers[id], testing::UnorderedElementsAreArray(ranks)) << "communicator " << id;
}

TEST(Connect, AMemberThatDoesNotComeIsATimeout) {
  OneRank rank(0);
  *rank.fake.answer = *rank.fake.state = nccl::inProgress;
  rank.context.waitSeconds = 0.01;
  Status connected = rank.context.connect();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(connected.error().message,
            "communicator 0 \"pp,dp\" of ranks 0, 1, 2, 3: not all members came by the deadline");
  EXPECT_EQ(rank.fake.taken(), "init 0 of 4 id 40 blocking 0\nabort\n");
}

// Of rank 3, whose stage receives first; a pass that is queued piece by piece.
TEST(Pass, CallsNcclInTheOrderOfIssue) {
  OneRank rank(3);
  ASSERT_TRUE(rank.context.connect());
  rank.fake.taken();
  DeviceStep step(rank.context, rank.entry());
  Status ran = step.run(1);
  ASSERT_TRUE(ran) << ran.error().message;
  std::string calls = rank.fake.taken();
  for (const char *message : {"receive", "send"}) // their addresses are those of this run
    for (size_t at = 0; (at = calls.find(std::string("(") + message, at)) != std::string::npos; ++at)
      calls.erase(at + 2 + std::strlen(message),
                  calls.find(' ', at + 2 + std::strlen(message)) - at - 1 - std::strlen(message));
  EXPECT_EQ(calls, "(receive 8 type 7 from 0;)\n(receive 8 type 7 from 0;)\n(send 8 type 7 to 1;)\n"
                   "(send 8 type 7 to 1;)\n(receive 8 type 7 from 0;)\n(send 8 type 7 to 1;)\n"
                   "(allReduce 2 type 7 operation 0)\n(allReduce 1 type 7 operation 0)\n");
}

// Puts a second reduction, of memory of its own, behind that of the update.
static void twice(program::ProgramT &program) {
  for (auto &rank : program.ranks) {
    auto &instructions = rank->bodies[3]->instructions;
    auto second = std::make_unique<program::InstructionT>(*instructions[1]);
    second->written.clear();
    for (program::Buffer &buffer : second->buffers) {
      buffer = program::Buffer(program::Space::Arena, rank->arenaBytes, buffer.bytes());
      rank->arenaBytes += buffer.bytes();
    }
    instructions.insert(instructions.begin() + 2, std::move(second));
  }
}

TEST(Pass, CollectivesSideBySideAreOneGroup) {
  OneRank rank(0, twice);
  ASSERT_TRUE(rank.context.connect());
  rank.fake.taken();
  DeviceStep step(rank.context, rank.entry());
  Status ran = step.run(1);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(rank.fake.taken(),
              testing::EndsWith("(allReduce 2 type 7 operation 0)\n"
                                "((reduceScatter 3 type 7 operation 0)\n(reduceScatter 3 type 7 operation 0)\n)\n"
                                "(allGather 3 type 7)\n"));
}

TEST(Pass, AnAsynchronousErrorEndsIt) {
  OneRank rank(0);
  ASSERT_TRUE(rank.context.connect());
  rank.fake.taken();
  rank.device.stuck = true;
  *rank.fake.state = nccl::systemError;
  DeviceStep step(rank.context, rank.entry());
  Status ran = step.run(7);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::Mismatch); // exit status 3
  EXPECT_THAT(ran.error().message, testing::StartsWith("step 7"));
  EXPECT_THAT(ran.error().message, testing::HasSubstr("unhandled system error: the cable is out"));
  EXPECT_THAT(rank.fake.taken(), testing::HasSubstr("abort\n"));
}

// The host has said that a peer is dead: the wait ends, and what is queued is aborted with every communicator.
TEST(Pass, AStandstillIsATimeoutAndAnAbortEndsIt) {
  OneRank rank(0);
  ASSERT_TRUE(rank.context.connect());
  rank.device.stuck = true;
  rank.context.waitSeconds = 0.05;
  DeviceStep step(rank.context, rank.entry());
  Status late = step.run(7);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::Timeout);
  EXPECT_THAT(late.error().message, testing::EndsWith("nothing moved for 0.05 s"));
  rank.fake.taken();
  rank.context.world.abort(late.error().message); // as a rank does that ends
  EXPECT_EQ(rank.fake.taken(), "abort\nabort\nabort\nabort\n");
  ASSERT_TRUE(rank.host.aborted); // the others hear of it
  EXPECT_EQ(rank.host.aborted->message, late.error().message);
  DeviceStep next(rank.context, rank.entry());
  EXPECT_EQ(next.run(8).error().kind, ErrorKind::Aborted);
}
