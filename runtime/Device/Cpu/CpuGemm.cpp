// Cuts a product into one part for each thread; Products.h multiplies.
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Device/Cpu/Products.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {
namespace {

// Multiply-adds below which waking a thread costs more than it saves.
constexpr int64_t worthSharing = 1 << 20;
// Parts of a product start at multiples of this (a vector register of f32).
constexpr int64_t lane = 16;

// Rows [rows.begin, rows.end) and columns of one product.
struct Window {
  ThreadPool::Part rows, columns;
};

const std::byte *at(const void *base, GemmType type, int64_t element) {
  return static_cast<const std::byte *>(base) + element * sizeBytes(type);
}

std::string textOf(const Gemm &g, int status) {
  constexpr const char *names[] = {"f32", "bf16", "f16"};
  std::string types =
      g.type == GemmType::F32 ? "" : fmt::format(" of {} as {}", names[int(g.type)], names[int(g.resultType)]);
  return fmt::format("oneDNN refuses the product{} m {} n {} k {} lda {} ldb {} ldc {}{}{} (status {})", types, g.m,
                     g.n, g.k, g.lda, g.ldb, g.ldc, g.transA ? " A transposed" : "", g.transB ? " B transposed" : "",
                     status);
}

} // namespace

Status cpuGemm(ThreadPool &pool, const Gemm &g, const void *a, const void *b, void *c, BFloatProducts bfloat) {
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0)
    return {};
  std::atomic<int> worst{0};
  auto one = [&](int64_t i, Window w) {
    Gemm part = g;
    part.m = w.rows.end - w.rows.begin, part.n = w.columns.end - w.columns.begin;
    int64_t inA = i * g.strideA + w.rows.begin * (g.transA ? 1 : g.lda);
    int64_t inB = i * g.strideB + w.columns.begin * (g.transB ? g.ldb : 1);
    int64_t inC = i * g.strideC + w.rows.begin * g.ldc + w.columns.begin;
    int status = multiply(part, at(a, g.type, inA), at(b, g.type, inB),
                          static_cast<std::byte *>(c) + inC * sizeBytes(g.resultType), bfloat);
    if (status != 0)
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
  if (worst == 0)
    return {};
  return Error{ErrorKind::Invalid, textOf(g, worst), {}};
}

} // namespace hocket::runtime
