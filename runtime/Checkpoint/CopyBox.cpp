// Strided copies; contracts in CopyBox.h.
#include "runtime/Checkpoint/CopyBox.h"
#include "runtime/Comm/Half.h"
#include <cstring>

namespace hocket::checkpoint {

using program::DType;

View denseView(Box box, DType type) {
  View result{std::move(box), {}, type};
  for (const program::Range &range : result.box)
    result.extents.push_back(range.size());
  return result;
}

static bool isInteger(DType type) { return type == DType::I32 || type == DType::I64; }

bool convertible(DType from, DType to) { return isInteger(from) == isInteger(to); }

namespace {
// An element type as storage: what it reads as, and how that is written.
template <class T, class Number> struct Plain {
  using Stored = T;
  static Number load(T x) { return x; }
  static T store(Number x) { return static_cast<T>(x); }
};
using F32 = Plain<float, double>;
using F64 = Plain<double, double>;
using I32 = Plain<int32_t, int64_t>;
using I64 = Plain<int64_t, int64_t>;
struct BF16 {
  using Stored = runtime::BFloat16;
  static double load(Stored x) { return runtime::toFloat(x); }
  static Stored store(double x) { return runtime::toBFloat16(static_cast<float>(x)); }
};
struct F16 {
  using Stored = runtime::Float16;
  static double load(Stored x) { return runtime::toFloat(x); }
  static Stored store(double x) { return runtime::toFloat16(static_cast<float>(x)); }
};
} // namespace

template <class From, class To> static void convertRun(const std::byte *source, std::byte *target, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    typename From::Stored value;
    std::memcpy(&value, source + i * sizeof value, sizeof value);
    typename To::Stored stored = To::store(From::load(value));
    std::memcpy(target + i * sizeof stored, &stored, sizeof stored);
  }
}

template <class From> static void convertFrom(const std::byte *source, DType to, std::byte *target, uint64_t count) {
  switch (to) {
  case DType::F32:
    return convertRun<From, F32>(source, target, count);
  case DType::F64:
    return convertRun<From, F64>(source, target, count);
  case DType::BF16:
    return convertRun<From, BF16>(source, target, count);
  default:
    return convertRun<From, F16>(source, target, count);
  }
}

static void convert(DType from, const std::byte *source, DType to, std::byte *target, uint64_t count) {
  switch (from) {
  case DType::F32:
    return convertFrom<F32>(source, to, target, count);
  case DType::F64:
    return convertFrom<F64>(source, to, target, count);
  case DType::BF16:
    return convertFrom<BF16>(source, to, target, count);
  case DType::F16:
    return convertFrom<F16>(source, to, target, count);
  case DType::I32:
    return convertRun<I32, I64>(source, target, count);
  case DType::I64:
    return convertRun<I64, I32>(source, target, count);
  }
}

void copyBox(const Box &part, const View &from, const std::byte *source, const View &to, std::byte *target) {
  // Trailing dimensions that are whole in both buffers make one run with the dimension before them.
  size_t outer = part.size();
  uint64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= part[outer].size();
    if (part[outer].size() != from.extents[outer] || part[outer].size() != to.extents[outer])
      break;
  }
  uint64_t rows = 1;
  for (size_t dim = 0; dim < outer; ++dim)
    rows *= part[dim].size();
  uint64_t fromSize = program::sizeOf(from.type), toSize = program::sizeOf(to.type);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t left = row, fromAt = 0, toAt = 0, fromStride = 1, toStride = 1;
    for (size_t dim = part.size(); dim-- > 0;) {
      uint64_t index = part[dim].begin;
      if (dim < outer) {
        index += left % part[dim].size();
        left /= part[dim].size();
      }
      fromAt += (index - from.box[dim].begin) * fromStride;
      toAt += (index - to.box[dim].begin) * toStride;
      fromStride *= from.extents[dim];
      toStride *= to.extents[dim];
    }
    if (from.type == to.type)
      std::memcpy(target + toAt * toSize, source + fromAt * fromSize, run * fromSize);
    else
      convert(from.type, source + fromAt * fromSize, to.type, target + toAt * toSize, run);
  }
}

} // namespace hocket::checkpoint
