// How NCCL is called, what its errors become, and what is said where it is missing. A fake NCCL answers; on a machine
// with GPUs the conformance suite of communicators runs over the real one.
#include "Nccl/FakeNccl.h"
#include "Nccl/LonelyWorld.h"
#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#ifdef HOCKET_NCCL_HEADER
#include <nccl.h>
#endif

using namespace hocket::runtime;
using namespace hocket::runtime::nccl;
using hocket::test::FakeNccl;
using hocket::test::LonelyWorld;
namespace {

// A CPU whose events are never complete.
struct StuckDevice : CpuDevice {
  StuckDevice() : CpuDevice(1) {}
  Result<bool> complete(Event &) override { return !stuck; }
  bool stuck = false;
};

struct Nccl : testing::Test, FakeNccl {
  std::unique_ptr<Communicator> make() {
    auto made = world.communicator({3, "dp", {0, 1, 2}}, deadlineIn(10));
    EXPECT_TRUE(made);
    return made ? std::move(*made) : nullptr;
  }

  LonelyWorld host; // rank 1 of 3
  StuckDevice device;
  NcclWorld world{host, *Library::open(HOCKET_FAKE_NCCL), device, {}};
  When soon{deadlineIn(10)};
};

TEST_F(Nccl, MakesACommunicatorWithTheIdOfItsFirstMember) {
  auto dp = make();
  EXPECT_EQ(taken(), "init 1 of 3 id 43 blocking 0\n");
  dp.reset();
  EXPECT_EQ(taken(), "destroy\n");
}

TEST_F(Nccl, CallsCollectives) {
  auto dp = make();
  taken();
  float x[9];
  EXPECT_TRUE(dp->allReduce(x, x, 9, ElementType::F32, Reduction::Sum, soon));
  EXPECT_TRUE(dp->allReduce(x, x, 4, ElementType::F64, Reduction::Max, soon));
  EXPECT_TRUE(dp->reduceScatter(x, x, 3, ElementType::BF16, Reduction::Min, soon));
  EXPECT_TRUE(dp->allGather(x, x, 3, ElementType::F16, soon));
  EXPECT_TRUE(dp->broadcast(x, 5, ElementType::I64, 2, soon));
  EXPECT_TRUE(dp->barrier(soon));
  EXPECT_EQ(taken(),
            "(allReduce 9 type 7 operation 0)\n(allReduce 4 type 8 operation 2)\n(reduceScatter 3 type 9 operation 3)\n"
            "(allGather 3 type 6)\n(broadcast 5 type 4 root 2)\n(allReduce 1 type 2 operation 0)\n");
}

TEST_F(Nccl, GroupsWhatMustNotWaitForEachOther) {
  auto dp = make();
  taken();
  auto *in = reinterpret_cast<void *>(1000), *out = reinterpret_cast<void *>(2000);
  EXPECT_TRUE(shift(*dp, in, out, 2, ElementType::F32, soon));
  EXPECT_EQ(taken(), "(send 1000 2 type 7 to 2;receive 2000 2 type 7 from 0;)\n");
  EXPECT_TRUE(dp->allToAll(in, out, 2, ElementType::F32, soon));
  EXPECT_EQ(
      taken(),
      "(send 1000 2 type 7 to 0;receive 2000 2 type 7 from 0;send 1008 2 type 7 to 1;receive 2008 2 type 7 from 1;"
      "send 1016 2 type 7 to 2;receive 2016 2 type 7 from 2;)\n");
}

TEST_F(Nccl, CallsTogetherAreOneGroup) {
  auto dp = make(), tp = make();
  taken();
  float x[9];
  auto both = [&] {
    Status first = dp->allReduce(x, x, 9, ElementType::F32, Reduction::Sum, soon);
    return first ? tp->allGather(x, x, 3, ElementType::F32, soon) : first;
  };
  EXPECT_TRUE(world.together(both, deadlineIn(10)));
  EXPECT_EQ(taken(), "((allReduce 9 type 7 operation 0)\n(allGather 3 type 7)\n)\n");
  *state = inProgress; // the group itself; asked of each communicator
  Status late = world.together([] { return Status(); }, deadlineIn(0.01));
  EXPECT_EQ(late.error().message,
            "communicator 3 \"dp\" of ranks 0, 1, 2: ncclGroupEnd was not queued by its deadline");
  EXPECT_EQ(taken(), "()\nabort\n");
}

TEST_F(Nccl, MessagesAreCompleteWithTheEventAfterThem) {
  auto dp = make();
  taken();
  device.stuck = true;
  auto sent = dp->send(reinterpret_cast<void *>(1000), 7, ElementType::BF16, 2, nullptr);
  ASSERT_TRUE(sent);
  EXPECT_EQ(taken(), "(send 1000 7 type 9 to 2;)\n");
  EXPECT_FALSE(*(*sent)->test());
  Status waited = (*sent)->wait(deadlineIn(0.01));
  EXPECT_EQ(waited.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(waited.error().message, "communicator 3 \"dp\" of ranks 0, 1, 2: a message did not arrive by its deadline");
  device.stuck = false;
  EXPECT_TRUE(*(*sent)->test());
}

TEST_F(Nccl, AnAsynchronousErrorIsFinal) {
  auto dp = make();
  taken();
  *state = 2;
  Status good = world.waitForMessages(deadlineIn(1));
  ASSERT_FALSE(good);
  EXPECT_EQ(good.error().message,
            "communicator 3 \"dp\" of ranks 0, 1, 2: asynchronous error: unhandled system error: the cable is out");
  EXPECT_EQ(taken(), "abort\n");
  *state = 0;
  float x = 0;
  EXPECT_EQ(dp->allReduce(&x, &x, 1, ElementType::F32, Reduction::Sum, soon).error().message, good.error().message);
  EXPECT_EQ(taken(), "");
}

TEST_F(Nccl, WhatIsInProgressIsAskedForUntilItsDeadline) {
  auto dp = make();
  taken();
  *answer = *state = inProgress;
  float x = 0;
  Status ran = dp->allReduce(&x, &x, 1, ElementType::F32, Reduction::Sum, deadlineIn(0.01));
  EXPECT_EQ(ran.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(ran.error().message,
            "communicator 3 \"dp\" of ranks 0, 1, 2: ncclAllReduce was not queued by its deadline");
  EXPECT_EQ(taken(), "(allReduce 1 type 7 operation 0)\nabort\n");
}

TEST_F(Nccl, AMemberThatDoesNotComeIsATimeout) {
  *answer = *state = inProgress;
  auto made = world.communicator({3, "dp", {0, 1, 2}}, deadlineIn(0.01));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(made.error().message, "communicator 3 \"dp\" of ranks 0, 1, 2: not all members came by the deadline");
}

TEST_F(Nccl, AnAbortEndsAWait) {
  auto dp = make();
  taken();
  device.stuck = true;
  auto stream = *device.stream();
  Status late = world.finish(*stream, deadlineIn(0.01));
  EXPECT_EQ(late.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(late.error().message, "the work queued on a stream was not done by its deadline");
  world.abort("rank 2 died");
  EXPECT_EQ(taken(), "abort\n");
  EXPECT_EQ(world.finish(*stream, deadlineIn(10)).error().message, "communicator 3 \"dp\" of ranks 0, 1, 2: aborted");
}

TEST(NcclLibrary, SaysThatItIsMissingOrTooOld) {
  auto missing = Library::open("libnccl-of-nobody.so.2");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(missing.error().message,
            "NCCL is missing (libnccl-of-nobody.so.2: cannot open shared object file: No such file or directory); "
            "NCCL 2.18 or later is needed");
  auto old = Library::open(HOCKET_FAKE_OLD_NCCL);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message, "NCCL is too old: it is 2.12.7; NCCL 2.18 or later is needed");
}

TEST(NcclLibrary, HasAllSymbols) {
  void *library = dlopen(HOCKET_NCCL, RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << "no libnccl";
  for (const std::string &symbol : Library::symbols())
    EXPECT_NE(dlsym(library, symbol.c_str()), nullptr) << symbol;
}

TEST(NcclLibrary, ConstantsAreThoseOfTheHeader) {
#ifndef HOCKET_NCCL_HEADER
  GTEST_SKIP() << "no nccl.h";
#else
  EXPECT_EQ(typeOf(ElementType::F32), ncclFloat32);
  EXPECT_EQ(typeOf(ElementType::F64), ncclFloat64);
  EXPECT_EQ(typeOf(ElementType::BF16), ncclBfloat16);
  EXPECT_EQ(typeOf(ElementType::F16), ncclFloat16);
  EXPECT_EQ(typeOf(ElementType::I32), ncclInt32);
  EXPECT_EQ(typeOf(ElementType::I64), ncclInt64);
  EXPECT_EQ(operationOf(Reduction::Sum), ncclSum);
  EXPECT_EQ(operationOf(Reduction::Max), ncclMax);
  EXPECT_EQ(operationOf(Reduction::Min), ncclMin);
  EXPECT_EQ(int(inProgress), ncclInProgress);
  EXPECT_EQ(int(systemError), ncclSystemError);
  EXPECT_EQ(int(invalidArgument), ncclInvalidArgument);
  EXPECT_EQ(int(invalidUsage), ncclInvalidUsage);
  EXPECT_EQ(int(remoteError), ncclRemoteError);
  EXPECT_EQ(sizeof(UniqueId), sizeof(ncclUniqueId));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(Config().magic, config.magic);
  EXPECT_EQ(offsetof(Config, blocking), offsetof(ncclConfig_t, blocking));
#endif
}

} // namespace
