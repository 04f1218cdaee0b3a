// What a thread keeps of the memory in which it multiplies.
#include "runtime/Device/Cpu/ProductMemory.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using hocket::runtime::ProductMemory;
namespace {

void *ask(size_t bytes, size_t alignment = 64) {
  void *memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, alignment, bytes), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
  std::memset(memory, 1, bytes);
  return memory;
}

constexpr size_t large = 100 << 10;

TEST(ProductMemory, IsTheSameTheNextTime) {
  void *first;
  {
    ProductMemory inside;
    free(first = ask(large));
  }
  ProductMemory inside;
  for (size_t bytes : {large, large - 8, size_t(64 << 10) + 1}) {
    void *again = ask(bytes);
    EXPECT_EQ(again, first);
    free(again);
  }
}

TEST(ProductMemory, GrowsToWhatIsNeededMostAndStays) {
  ProductMemory inside;
  free(ask(large, 64));
  free(ask(8 * large, 128));
  void *grown = ask(large, 4096); // more bytes, and more aligned, than any of the three asked for
  free(grown);
  for (auto [bytes, alignment] : {std::pair(large, 64), std::pair(8 * large, 128), std::pair(8 * large, 4096)}) {
    void *again = ask(bytes, alignment);
    EXPECT_EQ(again, grown);
    free(again);
  }
}

TEST(ProductMemory, IsNotGivenTwice) {
  ProductMemory inside;
  void *blocks[6]; // more than are kept
  for (int i = 0; i < 6; ++i)
    blocks[i] = ask(large + i);
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < i; ++k)
      EXPECT_NE(blocks[i], blocks[k]);
  for (void *block : blocks)
    free(block);
}

TEST(ProductMemory, LeavesAllElseToTheHeap) {
  void *kept;
  {
    ProductMemory inside;
    free(kept = ask(large));
    void *small = ask(64 << 10);
    EXPECT_NE(small, kept);
    free(small);
  }
  void *outside = ask(large);
  EXPECT_NE(outside, kept);
  free(outside);
}

// What is in use when its thread ends is its user's to give back, in whatever thread that is.
TEST(ProductMemory, OutlivesItsThreadInUse) {
  void *memory = nullptr;
  std::thread([&] {
    ProductMemory inside;
    memory = ask(large);
  }).join();
  std::memset(memory, 2, large);
  free(memory);
}

} // namespace
