// See Numbers.h.
#include "Conformance/Numbers.h"
#include <cmath>
#include <cstring>
#include <limits>

using hocket::runtime::ElementType;
using hocket::runtime::Reduction;
namespace hocket::test {
namespace {

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

int exponentBitsOf(ElementType type) { return type == ElementType::BF16 ? 8 : 5; }

double readHalf(const std::byte *from, ElementType type) {
  uint16_t bits;
  std::memcpy(&bits, from, 2);
  return decodeHalf(bits, exponentBitsOf(type));
}

template <class T> T combine(Reduction reduction, T a, T b) {
  if (reduction == Reduction::Max)
    return a < b ? b : a;
  if (reduction == Reduction::Min)
    return b < a ? b : a;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

template <class T> void reduceElement(std::byte *to, ElementType type, Reduction reduction, int members, uint64_t i) {
  T sum, x;
  writeValue(reinterpret_cast<std::byte *>(&sum), type, 0, i);
  for (int r = 1; r < members; ++r) {
    writeValue(reinterpret_cast<std::byte *>(&x), type, r, i);
    sum = combine(reduction, sum, x);
  }
  std::memcpy(to, &sum, sizeof sum);
}

void reduceHalf(std::byte *to, ElementType type, Reduction reduction, int members, uint64_t i) {
  std::byte bytes[2];
  writeValue(bytes, type, 0, i);
  auto sum = static_cast<float>(readHalf(bytes, type));
  for (int r = 1; r < members; ++r) {
    writeValue(bytes, type, r, i);
    sum = combine(reduction, sum, static_cast<float>(readHalf(bytes, type)));
  }
  bool bf16 = type == ElementType::BF16;
  uint16_t bits = encodeHalf(roundTo(sum, bf16 ? 8 : 11, bf16 ? -126 : -14), exponentBitsOf(type));
  std::memcpy(to, &bits, 2);
}

double decode(const std::byte *from, ElementType type) {
  float single;
  double wide;
  switch (type) {
  case ElementType::F32:
    std::memcpy(&single, from, 4);
    return single;
  case ElementType::F64:
    std::memcpy(&wide, from, 8);
    return wide;
  default:
    return readHalf(from, type);
  }
}

// Half a unit in the last place of 1.
double rounding(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 0x1p-24;
  case ElementType::F64:
    return 0x1p-53;
  case ElementType::BF16:
    return 0x1p-8;
  default:
    return 0x1p-11;
  }
}

// Of element i: whether `got` is a sum in some order, each time rounded.
bool isSomeSum(double got, double wanted, ElementType type, int members, uint64_t i) {
  double magnitude = 0;
  for (int r = 0; r < members; ++r) {
    std::byte bytes[8];
    writeValue(bytes, type, static_cast<uint64_t>(r), i);
    magnitude += std::abs(decode(bytes, type));
  }
  return std::abs(got - wanted) <= 2 * members * rounding(type) * magnitude; // of `got` and of `wanted`
}

} // namespace

size_t firstWrong(const std::byte *got, ElementType type, Reduction reduction, int members, uint64_t first,
                  size_t count, bool inOrder) {
  std::vector<std::byte> wanted = reduced(type, reduction, members, first, count);
  size_t size = runtime::sizeBytes(type);
  bool anyOrder = !inOrder && reduction == Reduction::Sum && type != ElementType::I32 && type != ElementType::I64;
  for (size_t i = 0; i < count; ++i) {
    const std::byte *is = got + i * size, *should = wanted.data() + i * size;
    if (std::memcmp(is, should, size) != 0 &&
        !(anyOrder && isSomeSum(decode(is, type), decode(should, type), type, members, first + i)))
      return i;
  }
  return count;
}

double roundTo(double x, int digits, int leastExponent) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int last = std::max(std::ilogb(x), leastExponent) - (digits - 1); // exponent of the last bit
  return std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
}

double decodeHalf(uint16_t bits, int exponentBits) {
  int fractionBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits & 0x7fff) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias - fractionBits);
  return sign * std::ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits);
}

uint16_t encodeHalf(double x, int exponentBits) {
  int fractionBits = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  double size = std::fabs(x);
  auto infinity = static_cast<uint16_t>(((1 << exponentBits) - 1) << fractionBits);
  if (size >= std::ldexp(1, bias + 1))
    return sign | infinity;
  if (size < std::ldexp(1, 1 - bias))
    return sign | static_cast<uint16_t>(std::ldexp(size, bias - 1 + fractionBits));
  int exponent = std::ilogb(size);
  auto fraction = static_cast<uint16_t>(std::ldexp(size, fractionBits - exponent)) - (1 << fractionBits);
  return static_cast<uint16_t>(sign | (exponent + bias) << fractionBits | fraction);
}

void writeValue(std::byte *to, ElementType type, uint64_t member, uint64_t i) {
  uint64_t bits = mix(mix(member + 1) ^ i);
  double magnitude =
      std::ldexp(1.0 + static_cast<double>(bits >> 12 & 0xfffff) / 0x100000, static_cast<int>(bits % 9) - 4);
  double value = bits >> 63 ? -magnitude : magnitude;
  float single = static_cast<float>(value);
  auto integer = static_cast<int64_t>(bits);
  auto small = static_cast<int32_t>(bits >> 7);
  bool bf16 = type == ElementType::BF16;
  uint16_t half = bf16 || type == ElementType::F16
                      ? encodeHalf(roundTo(value, bf16 ? 8 : 11, bf16 ? -126 : -14), exponentBitsOf(type))
                      : 0;
  const void *from = type == ElementType::F32   ? static_cast<const void *>(&single)
                     : type == ElementType::F64 ? static_cast<const void *>(&value)
                     : type == ElementType::I32 ? static_cast<const void *>(&small)
                     : type == ElementType::I64 ? static_cast<const void *>(&integer)
                                                : static_cast<const void *>(&half);
  std::memcpy(to, from, runtime::sizeBytes(type));
}

std::vector<std::byte> values(ElementType type, uint64_t member, uint64_t first, size_t count) {
  size_t element = runtime::sizeBytes(type);
  std::vector<std::byte> made(count * element);
  for (size_t i = 0; i < count; ++i)
    writeValue(made.data() + i * element, type, member, first + i);
  return made;
}

std::vector<std::byte> reduced(ElementType type, Reduction reduction, int members, uint64_t first, size_t count) {
  size_t element = runtime::sizeBytes(type);
  std::vector<std::byte> made(count * element);
  for (size_t i = 0; i < count; ++i) {
    std::byte *to = made.data() + i * element;
    switch (type) {
    case ElementType::F32:
      reduceElement<float>(to, type, reduction, members, first + i);
      break;
    case ElementType::F64:
      reduceElement<double>(to, type, reduction, members, first + i);
      break;
    case ElementType::I32:
      reduceElement<int32_t>(to, type, reduction, members, first + i);
      break;
    case ElementType::I64:
      reduceElement<int64_t>(to, type, reduction, members, first + i);
      break;
    default:
      reduceHalf(to, type, reduction, members, first + i);
    }
  }
  return made;
}

} // namespace hocket::test
