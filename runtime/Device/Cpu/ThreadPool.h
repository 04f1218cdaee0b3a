// The threads of one rank. Work is cut into one fixed contiguous part per thread, so which thread computes what, and
// with it every result, depends on the number of threads alone and never on timing.
#ifndef HOCKET_RUNTIME_DEVICE_CPU_THREADPOOL_H
#define HOCKET_RUNTIME_DEVICE_CPU_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace hocket::runtime {

class ThreadPool {
public:
  // The caller of parallelFor is one of the `threads`: a pool of 1 has no thread of its own.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return static_cast<int>(workers.size()) + 1; }

  struct Part {
    int64_t begin, end;
  };
  // Part `index` of [0, tiles) in `parts` parts; sizes differ by at most one, longer ones first.
  //   part(7, 0, 3) -> [0, 3)    part(7, 2, 3) -> [5, 7)    part(1, 1, 3) -> [1, 1)
  static Part part(int64_t tiles, int index, int parts);

  // Calls work(begin, end) once for each part of [0, tiles) that is not empty, each in its own thread, and returns when
  // all are done. Work must not throw, nor call parallelFor of the same pool. Callers in several threads take turns.
  template <class Work> void parallelFor(int64_t tiles, Work &&work) {
    using Type = std::remove_reference_t<Work>;
    run(
        tiles, [](void *context, int64_t begin, int64_t end) { (*static_cast<Type *>(context))(begin, end); },
        const_cast<void *>(static_cast<const void *>(&work)));
  }

private:
  using Function = void (*)(void *context, int64_t begin, int64_t end);
  void run(int64_t tiles, Function function, void *context);
  void workerLoop(int index);

  std::vector<std::thread> workers;
  std::mutex turn;
  Function function = nullptr;
  void *context = nullptr;
  int64_t tiles = 0;
  std::atomic<int> generation{0}; // a change starts the workers; -1 ends them
  std::atomic<int> running{0};    // workers that have not finished this generation
};

} // namespace hocket::runtime
#endif
