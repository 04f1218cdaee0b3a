// One row of a schedule table: plain data, shared by the step dialect, passes/Schedule and (by meaning) the program file.
#pragma once
#include <array>
#include <cstdint>

namespace hocket::step {
inline constexpr int kMaxStreams = 8;

enum class RowKind : uint8_t { Body, Send, Receive };

/// Rows of one stream run in the order of the table. A row starts when, for every stream s, the first wait[s] rows of
/// stream s of this rank have finished. Stream 0 computes; the others carry messages.
struct Row {
  RowKind kind = RowKind::Body;
  uint8_t stream = 0;
  uint16_t index = 0; ///< of the body, or of the message, in its program
  uint32_t microbatch = 0;
  uint32_t slot = 0;
  std::array<uint32_t, kMaxStreams> wait{};
  bool operator==(const Row &) const = default;
};
} // namespace hocket::step
