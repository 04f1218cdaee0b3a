// Matrix products through oneDNN's dnnl_sgemm, which is row-major. Debian's oneDNN knows only OpenMP: left alone it
// would start a team of its own under each of our threads, so each of them tells OpenMP, once, to use one thread.
#include "runtime/Device/Cpu/CpuDevice.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

namespace hocket::runtime {
namespace {

// Multiply-adds below which waking a thread costs more than it saves.
constexpr int64_t worthSharing = 1 << 20;
// Parts of a product start at multiples of this (a vector register of f32).
constexpr int64_t lane = 16;

// OpenMP counts threads per calling thread.
void useOneOpenMpThread() {
  thread_local bool done = [] {
    if (auto *set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(1);
    return true;
  }();
  static_cast<void>(done);
}

// Rows [rows.begin, rows.end) and columns of one product.
struct Window {
  ThreadPool::Part rows, columns;
};

dnnl_status_t multiply(const Gemm &g, Window w, const float *a, const float *b, float *c) {
  int64_t m = w.rows.end - w.rows.begin, n = w.columns.end - w.columns.begin;
  c += w.rows.begin * g.ldc + w.columns.begin;
  if (g.k == 0) {
    for (int64_t i = 0; i < m && !g.accumulate; ++i)
      std::memset(c + i * g.ldc, 0, sizeof(float) * n);
    return dnnl_success;
  }
  useOneOpenMpThread();
  a += w.rows.begin * (g.transA ? 1 : g.lda);
  b += w.columns.begin * (g.transB ? g.ldb : 1);
  return dnnl_sgemm(g.transA ? 'T' : 'N', g.transB ? 'T' : 'N', m, n, g.k, 1.0f, a, g.lda, b, g.ldb,
                    g.accumulate ? 1.0f : 0.0f, c, g.ldc);
}

} // namespace

Status cpuGemm(ThreadPool &pool, const Gemm &g, const float *a, const float *b, float *c) {
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0)
    return {};
  std::atomic<int> worst{dnnl_success};
  auto one = [&](int64_t i, Window window) {
    dnnl_status_t status = multiply(g, window, a + i * g.strideA, b + i * g.strideB, c + i * g.strideC);
    if (status != dnnl_success)
      worst.store(status, std::memory_order_relaxed);
  };
  bool alone = pool.threads() == 1 || g.m * g.n * std::max<int64_t>(g.k, 1) * g.batch < worthSharing;
  if (alone || g.batch >= pool.threads()) {
    auto products = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        one(i, {{0, g.m}, {0, g.n}});
    };
    if (alone)
      products(0, g.batch);
    else
      pool.parallelFor(g.batch, products);
  } else {
    bool byRows = g.m >= g.n;
    int64_t length = byRows ? g.m : g.n;
    pool.parallelFor((length + lane - 1) / lane, [&](int64_t begin, int64_t end) {
      ThreadPool::Part part{begin * lane, std::min(end * lane, length)};
      for (int64_t i = 0; i < g.batch; ++i)
        one(i, byRows ? Window{part, {0, g.n}} : Window{{0, g.m}, part});
    });
  }
  if (worst == dnnl_success)
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("oneDNN refuses the product m {} n {} k {} lda {} ldb {} ldc {}{}{} (status {})", g.m, g.n,
                           g.k, g.lda, g.ldb, g.ldc, g.transA ? " A transposed" : "", g.transB ? " B transposed" : "",
                           worst.load()),
               {}};
}

} // namespace hocket::runtime
