// See ThreadPool.h. Idle threads sleep in the kernel after a spin of well under a microsecond: ranks share cores.
#include "runtime/Device/Cpu/ThreadPool.h"
#include <algorithm>

namespace hocket::runtime {

ThreadPool::ThreadPool(int threads) {
  for (int index = 1; index < threads; ++index)
    workers.emplace_back([this, index] { workerLoop(index); });
}

ThreadPool::~ThreadPool() {
  generation.store(-1);
  generation.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

ThreadPool::Part ThreadPool::part(int64_t tiles, int index, int parts) {
  int64_t each = tiles / parts, longer = tiles % parts;
  int64_t begin = each * index + std::min<int64_t>(index, longer);
  return {begin, begin + each + (index < longer ? 1 : 0)};
}

void ThreadPool::run(int64_t count, Function work, void *argument) {
  if (count <= 0)
    return;
  if (workers.empty() || count == 1)
    return work(argument, 0, count);
  std::lock_guard lock(turn);
  function = work;
  context = argument;
  tiles = count;
  running.store(static_cast<int>(workers.size()), std::memory_order_relaxed);
  // Non-negative for ever: -1 ends the workers.
  generation.store((generation.load(std::memory_order_relaxed) + 1) & INT32_MAX, std::memory_order_release);
  generation.notify_all();
  Part own = part(count, 0, threads());
  work(argument, own.begin, own.end);
  for (int left; (left = running.load(std::memory_order_acquire)) != 0;)
    running.wait(left, std::memory_order_acquire);
}

void ThreadPool::workerLoop(int index) {
  for (int seen = 0;;) {
    generation.wait(seen, std::memory_order_acquire);
    seen = generation.load(std::memory_order_acquire);
    if (seen < 0)
      return;
    Part own = part(tiles, index, threads());
    if (own.begin < own.end)
      function(context, own.begin, own.end);
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      running.notify_one();
  }
}

} // namespace hocket::runtime
