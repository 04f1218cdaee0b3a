// The schedule table: everything that one stage does in a step, as rows of fixed size. Solver, judge, simulator and
// memory plan work on it; a row is that of the step dialect and, by meaning, of the program file.
//
// Rows of one stream run in order. A row starts when, for every stream s of its own stage, the first wait[s] rows of
// stream s have finished. Stream 0 computes. Every directed edge has one stream at each end, so traffic forward and
// traffic backward never stand in each other's way.
//
// A slot holds what one (chunk, microbatch) needs from its forward to its backward: the received activation, what
// forward keeps, the activation that is sent on, the received gradient and the gradient that is sent back. Chunks that
// follow each other on one stage share it (Chains in Problem.h).
#pragma once

#include "dialect/Step/Row.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::schedule {

/// A row as the step dialect has it, but numbered for all stages together: `index` of a body is bodyIndex(kind, chunk),
/// of a message its place in Tables::messages. Microbatch and slot of begin and update are 0.
using step::Message;
using step::Row;
using step::RowKind;
using step::Values;
inline constexpr unsigned maxStreams = step::kMaxStreams;

/// Evaluate is the forward of the eval entry. Values equal those of program.fbs.
enum class BodyKind : uint8_t {
  Begin,
  Forward,
  Backward,
  WeightGrad,
  Recompute,
  Update,
  Evaluate,
  FinalBackward,
  FinalWeightGrad
};
inline constexpr unsigned bodyKinds = step::kBodyKinds;
/// Kinds that schedules are made of: a final body stands for that of the last microbatch only where tables become rows
/// of a program.
inline constexpr unsigned scheduledKinds = unsigned(BodyKind::FinalBackward);
inline constexpr unsigned maxChunks = 65536 / bodyKinds;

constexpr uint16_t bodyIndex(BodyKind kind, unsigned chunk) { return step::bodyIndexOf(unsigned(kind), chunk); }
constexpr BodyKind bodyKind(const Row &row) { return BodyKind(row.index % bodyKinds); }
constexpr unsigned bodyChunk(const Row &row) { return row.index / bodyKinds; }
/// Begin and Update run once a step and belong to no microbatch and no slot.
constexpr bool oncePerStep(BodyKind kind) { return kind == BodyKind::Begin || kind == BodyKind::Update; }

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
  /// By message the communicator that carries it, an index into communicatorNames; empty: one for each directed edge.
  /// Only `nccl` cares: the messages of one communicator start on a rank in the order of its rows.
  std::vector<uint32_t> communicators = {};
  std::vector<std::string> communicatorNames = {};
  bool piece = false; ///< of a step that has more: only its messages can be judged

  bool operator==(const Tables &) const = default;
};

/// "begin", "forward", "backward", "weight_grad", "recompute", "update", "evaluate"
const char *name(BodyKind kind);
/// "activation", "gradient"
const char *name(Values values);
/// "activation 0.1 -> 1.1": values, stage.chunk that sends, stage.chunk that receives.
std::string name(const Message &message);
/// The message of such a name; nothing for any other text.
std::optional<Message> parseMessage(std::string_view name);

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
