// The host's memory of one rank, for what is offloaded.
#include "SampleProgram.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Executor/RankContext.h"
#include <gtest/gtest.h>

using namespace hocket;
using namespace hocket::runtime;

namespace {
/// Nobody to talk to.
struct Alone : World {
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::span<std::byte> arena() override { return {}; }
  Result<std::unique_ptr<Communicator>> communicator(const Group &, Deadline) override {
    return Error{ErrorKind::Invalid, "alone", {}};
  }
  void abort(std::string_view) override {}
};

struct Reserved {
  flatbuffers::FlatBufferBuilder builder;
  Alone world;
  RankStatus status;
  CpuDevice device{1};
  std::unique_ptr<RankContext> context;

  explicit Reserved(uint64_t bytes) {
    program::ProgramT program = sample::sampleProgram();
    program.ranks[0]->hostBytes = bytes;
    builder.Finish(program::CreateProgram(builder, &program));
    const auto *read = flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
    context = std::make_unique<RankContext>(*read, 0, nullptr, world, world, status, device);
  }
};

TEST(HostMemory, IsZeroAndTheRanksOwn) {
  Reserved reserved(1 << 20);
  ASSERT_TRUE(reserved.context->reserveHost());
  ASSERT_NE(reserved.context->host, nullptr);
  for (size_t at : {0, 4096, (1 << 20) - 1})
    EXPECT_EQ(reserved.context->host[at], std::byte(0));
}

TEST(HostMemory, IsNoneWhereNothingIsOffloaded) {
  Reserved reserved(0);
  ASSERT_TRUE(reserved.context->reserveHost());
  EXPECT_EQ(reserved.context->host, nullptr);
}

// As many bytes as a program may ask for, and more than a process has addresses.
TEST(HostMemory, SaysHowMuchIsMissing) {
  Reserved reserved(uint64_t(1) << 48);
  Status status = reserved.context->reserveHost();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(status.error().message, "no 281474976710656 bytes of host memory for what is offloaded");
}

} // namespace
