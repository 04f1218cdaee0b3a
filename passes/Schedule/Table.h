// The schedule table: everything that one stage does in a step, as rows of fixed size. A row means exactly what `struct
// Row` of runtime/Program/program.fbs means; solver, judge, simulator, memory plan and program file all work on it.
//
// Rows of one stream run in order. A row starts when, for every stream s of its own stage, the first wait[s] rows of
// stream s have finished. Stream 0 computes. Every directed edge has one stream at each end, so traffic forward and
// traffic backward never stand in each other's way.
//
// A slot holds what one (chunk, microbatch) needs from its forward to its backward: the received activation, what
// forward keeps, the activation that is sent on, the received gradient and the gradient that is sent back.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket::schedule {

enum class RowKind : uint8_t { Body, Send, Receive };
/// Evaluate is the forward of the eval entry. Values equal those of program.fbs.
enum class BodyKind : uint8_t { Begin, Forward, Backward, WeightGrad, Recompute, Update, Evaluate };
inline constexpr unsigned bodyKinds = 7;
inline constexpr unsigned maxStreams = 8;
inline constexpr unsigned maxChunks = 65536 / bodyKinds;

struct Row {
  RowKind kind = RowKind::Body;
  uint8_t stream = 0;
  uint16_t index = 0;      ///< Body: bodyIndex(kind, chunk). Send, Receive: index into Tables::messages.
  uint32_t microbatch = 0; ///< 0 for Begin and Update
  uint32_t slot = 0;       ///< 0 for Begin and Update
  std::array<uint32_t, maxStreams> wait{};

  bool operator==(const Row &) const = default;
};

constexpr uint16_t bodyIndex(BodyKind kind, unsigned chunk) { return chunk * bodyKinds + unsigned(kind); }
constexpr BodyKind bodyKind(const Row &row) { return BodyKind(row.index % bodyKinds); }
constexpr unsigned bodyChunk(const Row &row) { return row.index / bodyKinds; }
/// Begin and Update run once a step and belong to no microbatch and no slot.
constexpr bool oncePerStep(BodyKind kind) { return kind == BodyKind::Begin || kind == BodyKind::Update; }

/// Activations go from a chunk to the one that follows it in the model, gradients the other way.
enum class Values : uint8_t { Activation, Gradient };

/// What is sent along a directed edge: one set of values, once for each microbatch.
struct Message {
  Values values = Values::Activation;
  uint32_t from = 0, to = 0; ///< stages
  uint16_t fromChunk = 0, toChunk = 0;

  bool operator==(const Message &) const = default;
};

/// One stage's table. At most maxStreams streams; streams[0] is "compute".
struct Table {
  std::vector<std::string> streams;
  uint32_t slots = 0;
  std::vector<Row> rows;

  bool operator==(const Table &) const = default;
};

/// The tables of all stages, and the messages between them.
struct Tables {
  uint32_t chunks = 1; ///< per stage
  uint32_t microbatches = 1;
  std::vector<Message> messages; ///< at most 65536
  std::vector<Table> stages;

  bool operator==(const Tables &) const = default;
};

/// "begin", "forward", "backward", "weight_grad", "recompute", "update", "evaluate"
const char *name(BodyKind kind);
/// "activation", "gradient"
const char *name(Values values);

/// The chunk on the row's own stage. The row's index is within its range.
inline unsigned chunkOf(const Tables &tables, const Row &row) {
  if (row.kind == RowKind::Body)
    return bodyChunk(row);
  const Message &message = tables.messages[row.index];
  return row.kind == RowKind::Send ? message.fromChunk : message.toChunk;
}

/// A row in words, for faults and reports: "forward of microbatch 3", "send of the gradient of microbatch 3 to stage
/// 0"; with more than one chunk a stage, "forward of microbatch 3 (chunk 1)". The row's index is within its range.
std::string describe(const Tables &tables, const Row &row);

} // namespace hocket::schedule
