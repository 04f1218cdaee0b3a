// All rows of all stages as one numbered set, with what orders them: the rows before each in its stream, and for each
// send the receive it meets. Judge and simulator both stand on it; it knows nothing of what the rows mean.
#pragma once

#include "passes/Schedule/Fault.h"
#include "passes/Schedule/Table.h"

#include <optional>
#include <span>

namespace hocket::schedule {

/// When a send is finished. Rendezvous: together with its receive. Buffered: the first K messages of a directed edge
/// that are not yet received leave the sender free (K = 1: "a buffer of one message per direction"). NCCL: rendezvous,
/// and a rank's messages on one communicator run one after the other in the order of its rows, which is the order in
/// which the host launches their kernels; the device keeps `resident` of them at work at a time.
struct Semantics {
  uint32_t buffers = 0; ///< 0: rendezvous
  bool nccl = false;
  uint32_t resident = maxStreams; ///< of nccl; a rank has less streams than that, so that this many never bind
  bool rendezvous() const { return buffers == 0; }
};
/// "rendezvous", "nccl", "nccl:R" with R >= 1, or "buffered:K" with K >= 1.
std::optional<Semantics> parseSemantics(const std::string &text, Faults &faults);
std::string name(Semantics semantics);

using RowId = uint32_t;
inline constexpr RowId noRow = ~0u;

/// A directed edge with all its sends and receives, each in the order of the end's stream.
struct EdgeRows {
  uint32_t from, to;
  std::vector<RowId> sends, receives;
};

/// Precondition: indices, streams and waits within their range (the judge's checkShape). Keeps a reference to the
/// tables.
struct RowGraph {
  /// `oneCommunicator`: as if one carried all messages, whatever the tables say.
  explicit RowGraph(const Tables &tables, bool oneCommunicator = false);

  const Tables &tables;
  std::vector<RowId> firstOfStage;            ///< stages + 1 entries
  std::vector<uint32_t> stageOf;              ///< by row
  std::vector<uint32_t> position;             ///< by row: its place in its stream
  std::vector<std::vector<RowId>> streamRows; ///< by stage * maxStreams + stream
  /// By row: of a send its receive, of a receive its send, by their place on the edge; noRow for bodies and where there
  /// is none. Where an edge's sends and receives are not the same set, they are paired by message and microbatch
  /// instead.
  std::vector<RowId> partner;
  std::vector<uint32_t> edgePosition; ///< by row: of a send or receive, its place on its edge
  std::vector<EdgeRows> edges;
  std::vector<uint32_t> edgeOf; ///< by row: index into edges, ~0 for bodies
  /// By row: the row above of the same stage whose message is on the same communicator; noRow where there is none.
  std::vector<RowId> launchedBefore;
  std::vector<uint32_t> communicatorOf; ///< by message

  RowId size() const { return RowId(stageOf.size()); }
  const Row &row(RowId id) const { return tables.stages[stageOf[id]].rows[id - firstOfStage[stageOf[id]]]; }
  uint32_t keyOf(RowId id) const { return stageOf[id] * maxStreams + row(id).stream; }
  bool isSend(RowId id) const { return row(id).kind == RowKind::Send; }
  RowId streamRow(uint32_t stage, unsigned stream, uint32_t position) const {
    return streamRows[stage * maxStreams + stream][position];
  }
  /// The receive that has to finish before send `id` can be buffered; noRow when there is none.
  RowId bufferedBehind(RowId id, Semantics semantics) const;

private:
  void pairEdges();
  void orderLaunches();
};

} // namespace hocket::schedule
