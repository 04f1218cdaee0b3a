// cvt of the PTX ISA: between floating-point types of 16, 32 and 64 bits and integers. Integers saturate, NaN becomes
// 0.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Emulator/Intrinsics.h"
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace hocket::runtime::emulator {

namespace {

template <int mode, class T> T integral(T x) {
  return mode == FE_TOWARDZERO ? std::trunc(x)
         : mode == FE_DOWNWARD ? std::floor(x)
         : mode == FE_UPWARD   ? std::ceil(x)
                               : std::nearbyint(x);
}

template <class I, class T, int mode> I toInteger(T x) {
  if (std::isnan(x))
    return 0;
  T whole = integral<mode>(x);
  if (whole <= static_cast<T>(std::numeric_limits<I>::min()))
    return std::numeric_limits<I>::min();
  if (whole >= static_cast<T>(std::numeric_limits<I>::max()))
    return std::numeric_limits<I>::max();
  return static_cast<I>(whole);
}

template <class T, class I, int mode> T fromInteger(I x) {
  int before = std::fegetround();
  std::fesetround(mode);
  volatile I value = x;
  volatile T result = static_cast<T>(value);
  std::fesetround(before);
  return result;
}

template <int mode> float narrow(double x) { return fromInteger<float, double, mode>(x); }

template <int mode> void addRounding(IntrinsicTable &table, const std::string &rounding) {
  auto name = [&](const char *from) { return std::string("llvm.nvvm.") + from + "." + rounding; };
  for (const char *ftz : {"", ".ftz"}) {
    table.emplace(name("f2i") + ftz, direct(toInteger<int32_t, float, mode>));
    table.emplace(name("f2ui") + ftz, direct(toInteger<uint32_t, float, mode>));
    table.emplace(name("f2ll") + ftz, direct(toInteger<int64_t, float, mode>));
    table.emplace(name("f2ull") + ftz, direct(toInteger<uint64_t, float, mode>));
    table.emplace(name("d2f") + ftz, direct(narrow<mode>));
  }
  table.emplace(name("d2i"), direct(toInteger<int32_t, double, mode>));
  table.emplace(name("d2ui"), direct(toInteger<uint32_t, double, mode>));
  table.emplace(name("d2ll"), direct(toInteger<int64_t, double, mode>));
  table.emplace(name("d2ull"), direct(toInteger<uint64_t, double, mode>));
  table.emplace(name("i2f"), direct(fromInteger<float, int32_t, mode>));
  table.emplace(name("ui2f"), direct(fromInteger<float, uint32_t, mode>));
  table.emplace(name("ll2f"), direct(fromInteger<float, int64_t, mode>));
  table.emplace(name("ull2f"), direct(fromInteger<float, uint64_t, mode>));
  table.emplace(name("i2d"), direct(fromInteger<double, int32_t, mode>));
  table.emplace(name("ui2d"), direct(fromInteger<double, uint32_t, mode>));
  table.emplace(name("ll2d"), direct(fromInteger<double, int64_t, mode>));
  table.emplace(name("ull2d"), direct(fromInteger<double, uint64_t, mode>));
}

uint16_t bfloat(float x) { return std::isnan(x) ? 0x7FFF : toBFloat16(x).bits; } // PTX: canonical NaN
uint16_t half(float x) { return std::isnan(x) ? 0x7FFF : toFloat16(x).bits; }

float at(const void *arguments, int i) {
  float value;
  std::memcpy(&value, static_cast<const std::byte *>(arguments) + 4 * i, 4);
  return value;
}

template <uint16_t (*convert)(float)> void one(void *result, const void *arguments, uint32_t) {
  uint16_t bits = convert(at(arguments, 0));
  std::memcpy(result, &bits, sizeof bits);
}

// cvt.rn.bf16x2.f32 d, a, b: a to the upper half, b to the lower
template <uint16_t (*convert)(float)> void two(void *result, const void *arguments, uint32_t) {
  uint32_t bits = uint32_t(convert(at(arguments, 0))) << 16 | convert(at(arguments, 1));
  std::memcpy(result, &bits, sizeof bits);
}

double join(int32_t low, int32_t high) {
  uint64_t bits = uint64_t(uint32_t(high)) << 32 | uint32_t(low);
  return std::bit_cast<double>(bits);
}

} // namespace

void addConversionIntrinsics(IntrinsicTable &table) {
  addRounding<FE_TONEAREST>(table, "rn");
  addRounding<FE_TOWARDZERO>(table, "rz");
  addRounding<FE_DOWNWARD>(table, "rm");
  addRounding<FE_UPWARD>(table, "rp");
  table.emplace("llvm.nvvm.f2bf16.rn", packedPure(one<bfloat>));
  table.emplace("llvm.nvvm.ff2bf16x2.rn", packedPure(two<bfloat>));
  table.emplace("llvm.nvvm.ff2f16x2.rn", packedPure(two<half>));
  table.emplace("llvm.nvvm.f2h.rn", packedPure(one<half>));
  table.emplace("llvm.nvvm.f2h.rn.ftz", packedPure(one<half>));
  table.emplace("llvm.nvvm.lohi.i2d", direct(join));
  table.emplace("llvm.nvvm.d2i.lo",
                direct<int32_t(double)>([](double x) { return int32_t(std::bit_cast<uint64_t>(x)); }));
  table.emplace("llvm.nvvm.d2i.hi",
                direct<int32_t(double)>([](double x) { return int32_t(std::bit_cast<uint64_t>(x) >> 32); }));
}

} // namespace hocket::runtime::emulator
