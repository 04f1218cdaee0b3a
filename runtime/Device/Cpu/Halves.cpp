// 16-bit floats to f32 and back, a row at a time. Half.h says what the numbers are; f16c does the same for f16.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Cpu/Products.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hocket::runtime {
namespace {

#if defined(__x86_64__)
bool hasF16c() {
  static const bool has = __builtin_cpu_supports("f16c");
  return has;
}
// Both return how many elements they did, a multiple of eight.
__attribute__((target("avx,f16c"))) int64_t widenF16c(const uint16_t *in, float *out, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i))));
  return i;
}
__attribute__((target("avx,f16c"))) int64_t narrowF16c(const float *in, uint16_t *out, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return i;
}
#else
bool hasF16c() { return false; }
int64_t widenF16c(const uint16_t *, float *, int64_t) { return 0; }
int64_t narrowF16c(const float *, uint16_t *, int64_t) { return 0; }
#endif

} // namespace

void widen(GemmType from, const uint16_t *in, float *out, int64_t count) {
  if (from == GemmType::BF16) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = toFloat(BFloat16{in[i]});
    return;
  }
  for (int64_t i = hasF16c() ? widenF16c(in, out, count) : 0; i < count; ++i)
    out[i] = toFloat(Float16{in[i]});
}

void narrow(GemmType to, const float *in, uint16_t *out, int64_t count) {
  if (to == GemmType::BF16) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = toBFloat16(in[i]).bits;
    return;
  }
  for (int64_t i = hasF16c() ? narrowF16c(in, out, count) : 0; i < count; ++i)
    out[i] = toFloat16(in[i]).bits;
}

} // namespace hocket::runtime
