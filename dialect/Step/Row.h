// One row of a schedule table, and what it names: plain data, shared by the step dialect, passes/Schedule and (by
// meaning) the program file.
#pragma once
#include <array>
#include <cstdint>

namespace hocket::step {
inline constexpr int kMaxStreams = 8;
/// Kinds of bodies: BodyKind of StepEnums.td, of passes/Schedule and of program.fbs, with equal values.
inline constexpr unsigned kBodyKinds = 9;

enum class RowKind : uint8_t { Body, Send, Receive };

/// Rows of one stream run in the order of the table. A row starts when, for every stream s, the first wait[s] rows of
/// stream s of this rank have finished. Stream 0 computes; the others carry messages.
struct Row {
  RowKind kind = RowKind::Body;
  uint8_t stream = 0;
  uint16_t index = 0; ///< of a body: bodyIndex(kind, chunk); of a message: its place in the table's list of messages
  uint32_t microbatch = 0;
  uint32_t slot = 0;
  std::array<uint32_t, kMaxStreams> wait{};
  bool operator==(const Row &) const = default;
};

constexpr uint16_t bodyIndexOf(unsigned kind, unsigned chunk) {
  return static_cast<uint16_t>(chunk * kBodyKinds + kind);
}

/// Activations go from a chunk to the one that follows it in the model, gradients the other way.
enum class Values : uint8_t { Activation, Gradient };

/// What is sent along a directed edge: one set of values, once for each microbatch.
struct Message {
  Values values = Values::Activation;
  uint32_t from = 0, to = 0; ///< stages
  uint16_t fromChunk = 0, toChunk = 0;

  bool operator==(const Message &) const = default;
};
} // namespace hocket::step
