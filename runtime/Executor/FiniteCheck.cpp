// Scans of values; contracts in FiniteCheck.h.
#include "runtime/Executor/FiniteCheck.h"
#include "runtime/Program/ProgramFile.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime {
namespace {
// How a floating-point type lies in memory: all exponent bits set is an infinity (no bit below) or no number.
template <class Word, Word exponentBits> struct Layout {
  using Bits = Word;
  static constexpr Word exponent = exponentBits;
  static constexpr Word sign = Word(1) << (8 * sizeof(Word) - 1);
};
using F32 = Layout<uint32_t, 0x7F800000>;
using F64 = Layout<uint64_t, 0x7FF0000000000000>;
using BF16 = Layout<uint16_t, 0x7F80>;
using F16 = Layout<uint16_t, 0x7C00>;

template <class F> bool isFault(typename F::Bits bits, program::Infinities allowed) {
  if ((bits & F::exponent) != F::exponent)
    return false;
  if (bits & ~(F::exponent | F::sign))
    return true; // no number
  auto kind = bits & F::sign ? program::Infinities::Negative : program::Infinities::Positive;
  return (static_cast<int>(allowed) & static_cast<int>(kind)) == 0;
}

template <class F> const char *valueText(typename F::Bits bits) {
  return bits & ~(F::exponent | F::sign) ? "nan" : bits & F::sign ? "-inf" : "inf";
}

// Calls f with the layout of the type; with none for whole numbers.
template <class Function> void withLayout(program::DType type, Function f) {
  switch (type) {
  case program::DType::F32:
    return f(F32());
  case program::DType::F64:
    return f(F64());
  case program::DType::BF16:
    return f(BF16());
  case program::DType::F16:
    return f(F16());
  default:
    return;
  }
}

template <class F>
std::optional<uint64_t> scan(const typename F::Bits *data, std::span<const uint64_t> padded,
                             std::span<const uint64_t> box, program::Infinities allowed) {
  uint64_t row = padded.empty() ? 1 : padded.back(), real = box.empty() ? 1 : box.back(), rows = 1;
  for (size_t dim = 0; dim + 1 < padded.size(); ++dim)
    rows *= padded[dim];
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t left = r;
    bool inside = true; // of the box, in all dimensions but the last
    for (size_t dim = padded.size() - 1; dim-- > 0 && padded.size() > 1; left /= padded[dim])
      inside &= left % padded[dim] < box[dim];
    for (uint64_t i = 0; inside && i < real; ++i)
      if (isFault<F>(data[r * row + i], allowed))
        return r * row + i;
  }
  return {};
}

struct Shard {
  std::vector<program::Range> box;
  std::vector<uint64_t> padded, real;
  template <class Value>
  Shard(const RankContext &context, const Value &value)
      : box(program::box(context.mesh, context.rank, value)), padded(program::paddedShape(value)) {
    for (const program::Range &range : box)
      real.push_back(range.size());
  }
  // "element [3, 17] (of the whole tensor) is inf"
  std::string text(uint64_t at, program::DType type, const void *data, std::string_view name) const {
    std::vector<uint64_t> index(padded.size());
    uint64_t left = at;
    for (size_t dim = padded.size(); dim-- > 0; left /= padded[dim])
      index[dim] = box[dim].begin + left % padded[dim];
    std::string value;
    withLayout(type, [&](auto layout) {
      using F = decltype(layout);
      value = valueText<F>(static_cast<const typename F::Bits *>(data)[at]);
    });
    return fmt::format("element [{}] of '{}' ({}) is {}", fmt::join(index, ", "), name, EnumNameDType(type), value);
  }
};
} // namespace

std::optional<uint64_t> firstNotFinite(program::DType type, const void *data, std::span<const uint64_t> padded,
                                       std::span<const uint64_t> box, program::Infinities allowed) {
  std::optional<uint64_t> found;
  withLayout(type, [&](auto layout) {
    using F = decltype(layout);
    found = scan<F>(static_cast<const typename F::Bits *>(data), padded, box, allowed);
  });
  return found;
}

FiniteCheck::FiniteCheck(const RankContext &context) : context(context) {
  for (uint32_t i = 0; context.own.outputs() && i < context.own.outputs()->size(); ++i)
    scaled |= context.own.outputs()->Get(i)->kind() == program::OutputKind::LossScale;
}

Status FiniteCheck::written(const program::Instruction &instruction, std::span<void *const> buffers) const {
  for (uint32_t i = 0; instruction.written() && i < instruction.written()->size(); ++i) {
    const program::Written &value = *instruction.written()->Get(i);
    Shard shard(context, *context.program.shapes()->Get(value.shape()));
    const void *data = buffers[value.buffer()];
    if (auto at = firstNotFinite(value.type(), data, shard.padded, shard.real, value.infinite()))
      return Error{
          ErrorKind::Mismatch, "not finite: " + shard.text(*at, value.type(), data, context.text(value.name())), {}};
  }
  return {};
}

Status FiniteCheck::state(std::string_view when) const {
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    Shard shard(context, state);
    Result<DeviceMemory::Reading> read =
        context.memory->read(context.address(*state.buffer(), 0, 0), state.buffer()->bytes());
    if (!read)
      return std::move(read.error());
    const void *data = read->data();
    if (auto at = firstNotFinite(state.type(), data, shard.padded, shard.real))
      return Error{ErrorKind::Mismatch,
                   fmt::format("{}, {} ({}): not finite: {}", when, EnumNameStateKind(state.kind()),
                               context.text(state.source()),
                               shard.text(*at, state.type(), data, state.name()->string_view())),
                   {}};
  }
  return {};
}

} // namespace hocket::runtime
