// The conformance suite of devices: memory, order on and between streams, launches, products.
#include "Conformance/GemmReference.h"
#include "Conformance/Subject.h"
#include <gtest/gtest.h>

using namespace hocket::test;
namespace {

constexpr size_t count = 1001;

int64_t *numbers(Device &device) {
  Result<void *> memory = device.allocate(count * sizeof(int64_t));
  EXPECT_TRUE(memory);
  return static_cast<int64_t *>(*memory);
}

Status scale(Device &device, Stream &stream, const int64_t *from, int64_t *to, int64_t factor) {
  void *buffers[] = {const_cast<int64_t *>(from), to};
  return device.launch(stream, {scaleKernel(device), buffers, {&factor, 1}, count, {{count, 1, 1}, {1, 1, 1}, 0}});
}

// Copies to the host and waits.
std::vector<int64_t> read(Device &device, Stream &stream, const int64_t *from) {
  std::vector<int64_t> host(count);
  EXPECT_TRUE(device.copy(stream, host.data(), from, count * sizeof(int64_t)));
  EXPECT_TRUE(device.synchronize(stream));
  return host;
}

TEST(Device, MemoryIsZeroAndAligned) {
  auto device = makeDevice(1);
  auto stream = *device->stream();
  int64_t *x = numbers(*device);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % 64, 0u);
  EXPECT_EQ(read(*device, *stream, x), std::vector<int64_t>(count));
  device->free(x);
}

TEST(Device, MarksWhereAStreamIs) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto device = makeDevice(seed);
    auto stream = *device->stream();
    Result<void *> memory = device->allocateHost(8);
    ASSERT_TRUE(memory);
    auto *words = static_cast<uint32_t *>(*memory);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(words) % 64, 0u);
    EXPECT_EQ(words[0] + words[1], 0u);
    ASSERT_TRUE(device->mark(*stream, words + 1, 7));
    ASSERT_TRUE(device->mark(*stream, words + 1, 8));
    ASSERT_TRUE(device->synchronize(*stream));
    EXPECT_EQ(words[0], 0u);
    EXPECT_EQ(words[1], 8u);
    device->freeHost(words);
  }
}

// x = 3 y on the first stream, z = 5 x on the second, y = x + … of both: the graph begins and ends on the first one.
TEST(Device, AGraphDoesItsWorkWithEveryLaunch) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto device = makeDevice(seed);
    auto first = *device->stream(), second = *device->stream();
    if (device->hostMemory()) {
      EXPECT_EQ(device->beginCapture(*first).error().message, "this device captures nothing");
      return;
    }
    int64_t *x = numbers(*device), *y = numbers(*device), *z = numbers(*device);
    auto there = *device->event(), back = *device->event();
    std::vector<int64_t> one(count, 1);
    ASSERT_TRUE(device->copy(*first, x, one.data(), count * sizeof(int64_t)));
    ASSERT_TRUE(device->synchronize(*first));
    ASSERT_TRUE(device->beginCapture(*first));
    EXPECT_FALSE(device->synchronize(*first));
    ASSERT_TRUE(scale(*device, *first, x, y, 3));
    ASSERT_TRUE(device->record(*first, *there));
    ASSERT_TRUE(device->wait(*second, *there));
    ASSERT_TRUE(scale(*device, *second, y, z, 5));
    ASSERT_TRUE(device->record(*second, *back));
    ASSERT_TRUE(device->wait(*first, *back));
    ASSERT_TRUE(scale(*device, *first, z, x, 2));
    Result<std::unique_ptr<Graph>> graph = device->endCapture(*first);
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(read(*device, *second, x), one); // nothing has run
    ASSERT_TRUE(device->launch(*first, **graph));
    ASSERT_TRUE(device->launch(*first, **graph));
    EXPECT_EQ(read(*device, *first, x), std::vector<int64_t>(count, 900));
    EXPECT_EQ(read(*device, *second, y), std::vector<int64_t>(count, 90));
    ASSERT_TRUE(device->launch(*first, **graph));
    EXPECT_EQ(read(*device, *first, x), std::vector<int64_t>(count, 27000));
  }
}

TEST(Device, WhatACaptureRefuses) {
  auto device = makeDevice(1);
  if (device->hostMemory())
    return;
  auto first = *device->stream(), second = *device->stream();
  auto before = *device->event(), there = *device->event();
  int64_t *x = numbers(*device);
  ASSERT_TRUE(device->record(*second, *before));
  ASSERT_TRUE(device->beginCapture(*first));
  EXPECT_FALSE(device->wait(*first, *before)); // recorded outside
  ASSERT_TRUE(device->record(*first, *there));
  ASSERT_TRUE(device->wait(*second, *there));
  ASSERT_TRUE(scale(*device, *second, x, x, 2)); // does not join again
  EXPECT_FALSE(device->endCapture(*first));
}

TEST(Device, CopiesZeroesAndLaunchesInOrderOfAStream) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto device = makeDevice(seed);
    auto stream = *device->stream();
    int64_t *x = numbers(*device), *y = numbers(*device);
    std::vector<int64_t> host(count), expected(count);
    for (size_t i = 0; i < count; ++i)
      expected[i] = 9 * (host[i] = static_cast<int64_t>(i));
    ASSERT_TRUE(device->copy(*stream, x, host.data(), count * sizeof(int64_t)));
    ASSERT_TRUE(scale(*device, *stream, x, y, 3));
    ASSERT_TRUE(scale(*device, *stream, y, x, 3));
    EXPECT_EQ(read(*device, *stream, x), expected);
    ASSERT_TRUE(device->zero(*stream, x, 8));
    ASSERT_TRUE(device->copy(*stream, x + 1, x, 0));
    expected[0] = 0;
    EXPECT_EQ(read(*device, *stream, x), expected);
    device->free(x);
    device->free(y);
  }
}

// One stream makes x, another one turns it into y, the first one turns that into x again.
TEST(Device, EventsOrderStreams) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto device = makeDevice(seed);
    auto first = *device->stream(), second = *device->stream();
    auto made = *device->event(), turned = *device->event();
    int64_t *x = numbers(*device), *y = numbers(*device);
    std::vector<int64_t> ones(count, 1);
    ASSERT_TRUE(device->copy(*first, x, ones.data(), count * sizeof(int64_t)));
    ASSERT_TRUE(device->record(*first, *made));
    ASSERT_TRUE(device->wait(*second, *made));
    ASSERT_TRUE(scale(*device, *second, x, y, 5));
    ASSERT_TRUE(device->record(*second, *turned));
    ASSERT_TRUE(device->wait(*first, *turned));
    ASSERT_TRUE(scale(*device, *first, y, x, 7));
    EXPECT_EQ(read(*device, *first, x), std::vector<int64_t>(count, 35));
    EXPECT_TRUE(*device->complete(*turned));
    device->free(x);
    device->free(y);
  }
}

TEST(Device, AskingForAnEventComesToAnEnd) {
  auto device = makeDevice(3);
  auto stream = *device->stream();
  auto event = *device->event();
  EXPECT_TRUE(*device->complete(*event)); // never recorded
  int64_t *x = numbers(*device);
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(scale(*device, *stream, x, x, 2));
  ASSERT_TRUE(device->record(*stream, *event));
  bool complete = false;
  for (int64_t asked = 0; !complete && asked < 100'000'000; ++asked)
    complete = *device->complete(*event);
  EXPECT_TRUE(complete);
  device->free(x);
}

TEST(Device, WaitingForAnEventThatWasNeverRecordedIsNothing) {
  auto device = makeDevice(4);
  auto stream = *device->stream();
  auto event = *device->event();
  ASSERT_TRUE(device->wait(*stream, *event));
  EXPECT_TRUE(device->synchronize(*stream));
}

TEST(Device, MultipliesMatrices) {
  auto device = makeDevice(5);
  auto stream = *device->stream();
  for (GemmType type : {GemmType::F32, GemmType::BF16, GemmType::F16})
    for (GemmType result : {GemmType::F32, type})
      for (int bits = 0; bits < 8; ++bits) {
        Gemm g = make(17, 33, 9, 3, bits & 1, bits & 2, bits & 4, bits & 1 ? 3 : 0);
        g.type = type, g.resultType = result;
        Operands o(g);
        std::vector<double> wanted = expected(g, o);
        void *memory[3];
        Matrix *host[] = {&o.a, &o.b, &o.c};
        for (int i = 0; i < 3; ++i) {
          memory[i] = *device->allocate(host[i]->bytes.size());
          ASSERT_TRUE(device->copy(*stream, memory[i], host[i]->bytes.data(), host[i]->bytes.size()));
        }
        ASSERT_TRUE(device->gemm(*stream, g, {memory[0], memory[1], memory[2]}));
        ASSERT_TRUE(device->copy(*stream, o.c.bytes.data(), memory[2], o.c.bytes.size()));
        ASSERT_TRUE(device->synchronize(*stream));
        for (size_t i = 0; i < wanted.size(); ++i)
          ASSERT_NEAR(o.c[i], wanted[i], tolerance(g, wanted[i])) << "element " << i;
        for (void *piece : memory)
          device->free(piece);
      }
}

TEST(Device, SaysThatMemoryIsLacking) {
  auto device = makeDevice(6);
  auto memory = device->allocate(size_t(1) << 60);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(memory.error().message, "no 1152921504606846976 bytes of memory");
}

} // namespace
