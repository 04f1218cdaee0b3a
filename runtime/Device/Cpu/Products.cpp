// See Products.h: which way a product takes, and the way of f32. Debian's oneDNN knows only OpenMP: left alone it would
// start a team of its own under each of our threads, so each of them tells OpenMP, once, to use one thread.
#include "runtime/Device/Cpu/Products.h"
#include "runtime/Device/Cpu/ProductMemory.h"
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

namespace hocket::runtime {
namespace {

// OpenMP counts threads per calling thread.
void useOneOpenMpThread() {
  thread_local bool done = [] {
    if (auto *set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(1);
    return true;
  }();
  static_cast<void>(done);
}

} // namespace

BFloatProducts bestBFloatProducts() {
  static const bool native =
      (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
  return native ? BFloatProducts::Native : BFloatProducts::Widened;
}

int multiplySingle(const Gemm &g, const float *a, const float *b, float *c) {
  ProductMemory memory;
  return dnnl_sgemm(g.transA ? 'T' : 'N', g.transB ? 'T' : 'N', g.m, g.n, g.k, 1.0f, a, g.lda, b, g.ldb,
                    g.accumulate ? 1.0f : 0.0f, c, g.ldc);
}

int multiply(const Gemm &g, const void *a, const void *b, void *c, BFloatProducts bfloat) {
  if (g.k == 0) {
    int64_t bytes = sizeBytes(g.resultType);
    for (int64_t i = 0; i < g.m && !g.accumulate; ++i)
      std::memset(static_cast<std::byte *>(c) + i * g.ldc * bytes, 0, g.n * bytes);
    return dnnl_success;
  }
  useOneOpenMpThread();
  if (g.type == GemmType::F32)
    return multiplySingle(g, static_cast<const float *>(a), static_cast<const float *>(b), static_cast<float *>(c));
  if (g.type == GemmType::BF16 && bfloat == BFloatProducts::Native)
    return multiplyBFloat(g, a, b, c);
  return multiplyWidened(g, static_cast<const uint16_t *>(a), static_cast<const uint16_t *>(b), c);
}

} // namespace hocket::runtime
