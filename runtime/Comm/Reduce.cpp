// See Reduce.h. Works on blocks that stay in the L1 cache, so each input and output is passed over once.
#include "runtime/Comm/Reduce.h"
#include "runtime/Comm/Half.h"
#include <algorithm>
#include <cstring>

namespace hocket::runtime {
namespace {

constexpr size_t blockElements = 2048;

// How a type is stored and in what it is added.
template <class T> struct Number {
  using Sum = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <> struct Number<BFloat16> {
  using Sum = float;
  static float load(BFloat16 x) { return toFloat(x); }
  static BFloat16 store(float x) { return toBFloat16(x); }
};
template <> struct Number<Float16> {
  using Sum = float;
  static float load(Float16 x) { return toFloat(x); }
  static Float16 store(float x) { return toFloat16(x); }
};

struct Add {
  template <class T> static T apply(T a, T b) { return a + b; }
  static int32_t apply(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }
  static int64_t apply(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
};
// A NaN on either side is the result: a != a keeps the left one, a comparison with the right one is false.
struct Max {
  template <class T> static T apply(T a, T b) { return a >= b || a != a ? a : b; }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a <= b || a != a ? a : b; }
};

template <class T, class Op>
void reduceAs(std::span<const std::byte *const> in, std::span<std::byte *const> out, size_t count) {
  using N = Number<T>;
  typename N::Sum sum[blockElements];
  for (size_t begin = 0; begin < count; begin += blockElements) {
    size_t n = std::min(blockElements, count - begin);
    const T *first = reinterpret_cast<const T *>(in[0]) + begin;
    for (size_t i = 0; i < n; ++i)
      sum[i] = N::load(first[i]);
    for (const std::byte *next : in.subspan(1)) {
      const T *x = reinterpret_cast<const T *>(next) + begin;
      for (size_t i = 0; i < n; ++i)
        sum[i] = Op::apply(sum[i], N::load(x[i]));
    }
    for (std::byte *target : out) {
      T *y = reinterpret_cast<T *>(target) + begin;
      for (size_t i = 0; i < n; ++i)
        y[i] = N::store(sum[i]);
    }
  }
}

template <class T>
void reduceBy(Reduction reduction, std::span<const std::byte *const> in, std::span<std::byte *const> out,
              size_t count) {
  switch (reduction) {
  case Reduction::Sum:
    return reduceAs<T, Add>(in, out, count);
  case Reduction::Max:
    return reduceAs<T, Max>(in, out, count);
  case Reduction::Min:
    return reduceAs<T, Min>(in, out, count);
  }
}

} // namespace

void reduceInOrder(std::span<const std::byte *const> in, std::span<std::byte *const> out, size_t count,
                   ElementType type, Reduction reduction) {
  switch (type) {
  case ElementType::F32:
    return reduceBy<float>(reduction, in, out, count);
  case ElementType::F64:
    return reduceBy<double>(reduction, in, out, count);
  case ElementType::BF16:
    return reduceBy<BFloat16>(reduction, in, out, count);
  case ElementType::F16:
    return reduceBy<Float16>(reduction, in, out, count);
  case ElementType::I32:
    return reduceBy<int32_t>(reduction, in, out, count);
  case ElementType::I64:
    return reduceBy<int64_t>(reduction, in, out, count);
  }
}

} // namespace hocket::runtime
