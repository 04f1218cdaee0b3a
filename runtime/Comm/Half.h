// bf16 and f16 as storage: their bits to f32 and back, rounding to nearest even. Done by hand, so that results do not
// depend on the compiler's or the machine's support for them.
#ifndef HOCKET_RUNTIME_COMM_HALF_H
#define HOCKET_RUNTIME_COMM_HALF_H

#include <bit>
#include <cstdint>

namespace hocket::runtime {

struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};

inline float toFloat(BFloat16 x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }

inline BFloat16 toBFloat16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) // NaN stays one: rounding could carry it to infinity
    return {uint16_t(bits >> 16 | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float toFloat(Float16 x) {
  uint32_t sign = uint32_t(x.bits & 0x8000) << 16, magnitude = x.bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinity, NaN
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) // normal: the exponent's bias is 15 here and 127 there
    return std::bit_cast<float>(sign | ((magnitude << 13) + (uint32_t(127 - 15) << 23)));
  float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

inline Float16 toFloat16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  auto sign = uint16_t(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return {uint16_t(sign | 0x7e00)};
  if (bits >= 0x477ff000) // 65520 and more round to infinity
    return {uint16_t(sign | 0x7c00)};
  if (bits >= 0x38800000) // 2^-14, the least normal
    return {uint16_t(sign | (bits - (uint32_t(127 - 15) << 23) + 0xfff + (bits >> 13 & 1)) >> 13)};
  // Adding 0.5 aligns the subnormal's last bit with that of the sum, and the hardware rounds to nearest even.
  float aligned = std::bit_cast<float>(bits) + 0.5f;
  return {uint16_t(sign | (std::bit_cast<uint32_t>(aligned) - std::bit_cast<uint32_t>(0.5f)))};
}

} // namespace hocket::runtime
#endif
