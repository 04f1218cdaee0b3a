// Two pieces of work that touch the same memory and that nothing orders are an error under every seed, with both named;
// what an event, a stream, a graph or a host that waited orders is none.
#include "Conformance/Subject.h"
#include "EmulatorTesting.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include <fmt/format.h>
#include <set>

using namespace hocket::test;
namespace {

struct TwoStreams {
  explicit TwoStreams(uint64_t seed = 0, bool check = true) : device(seed, checking(check)) {
    device.nameMarks([](const uint32_t *, uint32_t value) { return "place " + std::to_string(value); });
  }
  ~TwoStreams() {
    device.free(x);
    device.free(y);
  }
  // y = 5 x, one element.
  Status scale(Stream &stream) {
    void *buffers[] = {x, y};
    return device.launch(stream, {scaleKernel(device), buffers, {&five, 1}});
  }
  Status fill(Stream &stream, size_t bytes = 8) { return device.copy(stream, x, from, bytes); }
  Status order(Stream &before, Stream &after) {
    events.push_back(*device.event());
    if (Status recorded = device.record(before, *events.back()); !recorded)
      return recorded;
    return device.wait(after, *events.back());
  }
  // "" or the error of what was queued.
  std::string end() {
    for (Stream *stream : {&*first, &*second})
      if (Status ran = device.synchronize(*stream); !ran)
        return ran.error().message;
    return "";
  }

  EmulatorDevice device;
  std::unique_ptr<Stream> first = *device.stream(), second = *device.stream();
  std::vector<std::unique_ptr<Event>> events;
  int64_t from[4] = {1, 2, 3, 4}, five = 5;
  int64_t *x = static_cast<int64_t *>(*device.allocate(32)), *y = static_cast<int64_t *>(*device.allocate(32));
};

constexpr char copyFirst[] = "kernel \"k\" reads 8 bytes at byte 0 of \"device memory 0\", which a copy writes, and no "
                             "event orders the two",
               kernelFirst[] =
                   "a copy writes 8 bytes at byte 0 of \"device memory 0\", which kernel \"k\" reads, and no "
                   "event orders the two";

TEST(StreamOrder, AMissingEventIsNamedUnderEverySeed) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TwoStreams two(seed);
    ASSERT_TRUE(two.fill(*two.first) && two.scale(*two.second));
    seen.insert(two.end());
  }
  EXPECT_EQ(seen, (std::set<std::string>{copyFirst, kernelFirst}));
}

TEST(StreamOrder, EventsOrder) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TwoStreams two(seed);
    ASSERT_TRUE(two.fill(*two.first) && two.order(*two.first, *two.second) && two.scale(*two.second));
    ASSERT_TRUE(two.order(*two.second, *two.first) && two.fill(*two.first));
    EXPECT_EQ(two.end(), "");
  }
}

TEST(StreamOrder, AnEventOrdersWhatStandsBeforeItAlone) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TwoStreams two(seed);
    ASSERT_TRUE(two.order(*two.first, *two.second) && two.fill(*two.first) && two.scale(*two.second));
    EXPECT_THAT(two.end(), testing::HasSubstr("no event orders the two"));
  }
}

// An event that is recorded again orders its waiter after the record before the wait, whenever it runs.
TEST(StreamOrder, AnEventRecordedAgainOrdersNoMore) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TwoStreams two(seed);
    ASSERT_TRUE(two.order(*two.first, *two.second));
    ASSERT_TRUE(two.fill(*two.first) && two.device.record(*two.first, *two.events.back()) && two.scale(*two.second));
    EXPECT_THAT(two.end(), testing::HasSubstr("no event orders the two"));
  }
}

TEST(StreamOrder, AHostThatWaitedOrders) {
  TwoStreams two;
  ASSERT_TRUE(two.fill(*two.first));
  ASSERT_TRUE(two.device.synchronize(*two.first) && two.scale(*two.second));
  auto done = *two.device.event();
  ASSERT_TRUE(two.device.record(*two.second, *done));
  while (!*two.device.complete(*done))
    ;
  ASSERT_TRUE(two.fill(*two.first));
  EXPECT_EQ(two.end(), "");
}

TEST(StreamOrder, ReadsNeedNoOrderAndOtherBytesNone) {
  TwoStreams two;
  int64_t to[4] = {};
  ASSERT_TRUE(two.scale(*two.first) && two.device.copy(*two.second, to, two.x, 32)); // both read x
  ASSERT_TRUE(two.device.zero(*two.second, two.y + 1, 24));                          // the kernel writes y[0]
  EXPECT_EQ(two.end(), "");
}

// Of a range of which a part is touched by both the part is named, with what the marks say of the two.
TEST(StreamOrder, NamesTheBytesAndThePlaces) {
  std::set<std::string> seen;
  uint32_t words[2] = {};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TwoStreams two(seed);
    ASSERT_TRUE(two.device.mark(*two.first, &words[0], 7) && two.device.zero(*two.first, two.x, 32));
    ASSERT_TRUE(two.device.mark(*two.second, &words[1], 9) && two.device.zero(*two.second, two.x + 1, 16));
    seen.insert(two.end());
  }
  const char *text =
      "place {}: zeroing writes 16 bytes at byte 8 of \"device memory 0\", which zeroing (place {}) writes, "
      "and no event orders the two";
  EXPECT_EQ(seen,
            (std::set<std::string>{fmt::format(fmt::runtime(text), 7, 9), fmt::format(fmt::runtime(text), 9, 7)}));
}

TEST(StreamOrder, InAGraphToo) {
  for (bool ordered : {true, false})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      TwoStreams two(seed);
      ASSERT_TRUE(two.fill(*two.second)); // before the graph, joined by nothing but the host
      ASSERT_TRUE(two.device.synchronize(*two.second));
      ASSERT_TRUE(two.device.beginCapture(*two.first));
      ASSERT_TRUE(two.order(*two.first, *two.second) && two.fill(*two.first));
      ASSERT_TRUE(!ordered || two.order(*two.first, *two.second));
      ASSERT_TRUE(two.scale(*two.second) && two.order(*two.second, *two.first));
      auto graph = two.device.endCapture(*two.first);
      ASSERT_TRUE(graph) << graph.error().message;
      for (int launch = 0; launch < 3; ++launch)
        ASSERT_TRUE(two.device.launch(*two.first, **graph));
      ASSERT_TRUE(two.fill(*two.first)); // after all of it
      std::string error = two.end();
      EXPECT_EQ(error, ordered ? "" : error.starts_with("kernel") ? copyFirst : kernelFirst);
    }
}

TEST(StreamOrder, LooksAtNothingWithoutTheChecker) {
  TwoStreams two(0, false);
  ASSERT_TRUE(two.fill(*two.first) && two.scale(*two.second));
  EXPECT_EQ(two.end(), "");
}

TEST(StreamOrder, ProductsTouchTheirRowsAlone) {
  // C is 2 columns of a matrix of 4; the other two belong to somebody else.
  TwoStreams two;
  auto *floats = reinterpret_cast<float *>(two.x);
  Gemm gemm{false, false, false, 2, 2, 1, 1, 2, 4};
  float a[2] = {}, b[2] = {};
  ASSERT_TRUE(two.device.gemm(*two.first, gemm, {a, b, floats}));
  ASSERT_TRUE(two.device.zero(*two.second, floats + 2, 8));
  EXPECT_EQ(two.end(), "");
  ASSERT_TRUE(two.device.gemm(*two.first, gemm, {a, b, floats}));
  ASSERT_TRUE(two.device.zero(*two.second, floats + 5, 8));
  EXPECT_THAT(two.end(), testing::HasSubstr("4 bytes at byte 20 of \"device memory 0\""));
}

TEST(StreamOrder, ProductsWriteWhatWasBeforeGeluAndReadItForTheGradient) {
  float a[1] = {}, b[8] = {}, c[8] = {}, bias[8] = {};
  int64_t to = 0;
  for (GemmEpilogue epilogue : {GemmEpilogue::Gelu, GemmEpilogue::BiasGelu, GemmEpilogue::GeluGrad}) {
    TwoStreams two;
    Gemm gemm{false, false, false, 1, 8, 1, 1, 8, 8};
    gemm.epilogue = epilogue;
    ASSERT_TRUE(two.device.gemm(*two.first, gemm, {a, b, c, bias, two.x}));
    ASSERT_TRUE(two.device.copy(*two.second, &to, two.x, 8));
    if (epilogue == GemmEpilogue::GeluGrad)
      EXPECT_EQ(two.end(), "");
    else
      EXPECT_THAT(two.end(), testing::HasSubstr("a product writes"));
  }
}

} // namespace
