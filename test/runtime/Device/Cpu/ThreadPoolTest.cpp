// The pool: fixed parts, each in its own thread, all of them, once.
#include "runtime/Device/Cpu/ThreadPool.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace hocket::runtime;
namespace {

size_t threadsOfProcess() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(ThreadPool, PartsAreContiguousAndEven) {
  auto same = [](ThreadPool::Part part, int64_t begin, int64_t end) { return part.begin == begin && part.end == end; };
  EXPECT_TRUE(same(ThreadPool::part(7, 0, 3), 0, 3));
  EXPECT_TRUE(same(ThreadPool::part(7, 1, 3), 3, 5));
  EXPECT_TRUE(same(ThreadPool::part(7, 2, 3), 5, 7));
  EXPECT_TRUE(same(ThreadPool::part(1, 0, 3), 0, 1));
  EXPECT_TRUE(same(ThreadPool::part(1, 1, 3), 1, 1));
  EXPECT_TRUE(same(ThreadPool::part(0, 2, 3), 0, 0));
}

TEST(ThreadPool, CallsEachPartOnceInTheSameThread) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::map<int64_t, std::thread::id> first;
    for (int64_t tiles : {0, 1, 2, 4, 100, 100, 100}) {
      std::mutex mutex;
      std::map<int64_t, std::pair<int64_t, std::thread::id>> calls;
      pool.parallelFor(tiles, [&](int64_t begin, int64_t end) {
        std::lock_guard lock(mutex);
        EXPECT_TRUE(calls.emplace(begin, std::pair{end, std::this_thread::get_id()}).second);
      });
      int64_t next = 0;
      for (auto &[begin, call] : calls) {
        EXPECT_EQ(begin, next);
        next = call.first;
        if (tiles == 100)
          EXPECT_EQ(first.emplace(begin, call.second).first->second, call.second);
      }
      EXPECT_EQ(next, tiles);
      EXPECT_EQ(calls.size(), static_cast<size_t>(std::min<int64_t>(tiles, threads)));
    }
  }
}

TEST(ThreadPool, OneThreadIsTheCaller) {
  size_t before = threadsOfProcess();
  ThreadPool pool(1);
  EXPECT_EQ(threadsOfProcess(), before);
  pool.parallelFor(10, [caller = std::this_thread::get_id()](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 10);
  });
}

TEST(ThreadPool, CallersTakeTurns) {
  ThreadPool pool(3);
  std::vector<int64_t> sums(4);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < sums.size(); ++i)
    callers.emplace_back([&, i] {
      std::vector<int64_t> numbers(97);
      for (int round = 0; round < 200; ++round)
        pool.parallelFor(97, [&](int64_t begin, int64_t end) {
          for (int64_t tile = begin; tile < end; ++tile)
            numbers[tile] += tile;
        });
      sums[i] = std::accumulate(numbers.begin(), numbers.end(), int64_t(0));
    });
  for (std::thread &caller : callers)
    caller.join();
  for (int64_t sum : sums)
    EXPECT_EQ(sum, 200 * 97 * 96 / 2);
}

} // namespace
