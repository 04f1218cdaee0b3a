// Whether a set of tables does what its problem asks, in any order that streams, waits and messages leave open. The
// judge knows no solver: it reads tables, also a user's.
//
// It holds that
//   - every body of every (chunk, microbatch) runs exactly once, and so does every message between neighbours;
//   - what a body or a send reads is there: it happens after the forward, receive, … that makes it;
//   - the messages of a directed edge are received in the order in which they are sent, and stand on one stream at each
//     end;
//   - chunks that follow each other on one stage use one slot for a microbatch, other chunks slots of their own;
//   - no slot is written while a row of its last user, an unfinished send included, may still use it; slots are within
//     Problem::maxInFlight;
//   - weight gradients are added in microbatch order on every stage and chunk;
//   - begin comes before, update after all that they must;
//   - every row runs: under the semantics of sends that is given, nobody waits for ever.
#pragma once

#include "passes/Schedule/Execution.h"

namespace hocket::schedule {

/// All faults of the tables, none when they are right. A fault speaks of stage, time (with Problem::times, every row as
/// early as it can), microbatch and, with more than one chunk a stage, chunk; its notes are the other parties. Faults
/// in the shape of the tables (checkShape) hide all others. A deadlock hides only what rows that never run would have
/// to order, and its last notes count that; what a row of its circle fails to wait for is a note of it too. At most
/// maxFaults are told, then how many more. Near-linear in rows: orders that hold only by way of another stage cost a
/// search each (HappensBefore.h).
Faults judge(const Problem &problem, const Tables &tables, Semantics semantics = {});
inline constexpr size_t maxFaults = 100;

/// Deadlock, unmatched messages and their order alone, for tables that are a piece of a step; every duration is 1 but
/// messages', which is 0.
Faults judgeMessages(const Tables &tables, Semantics semantics = {});

/// Indices, streams, slots, waits and messages within their ranges: what RowGraph and describe() need.
bool checkShape(const Tables &tables, Faults &faults);

/// The tables' sizes and messages are the problem's.
bool checkFit(const Problem &problem, const Tables &tables, Faults &faults);

/// Of nccl: where more communication kernels of a rank can be at work at a time than the semantics state, the device
/// takes them in the order of launch; then that order, over all communicators and ranks together, must not be a circle.
/// Rows that never run in `execution` are left out: why they do not is told.
void checkResident(const Problem &problem, const RowGraph &graph, const Execution &execution, Semantics semantics,
                   Faults &faults);

/// Messages of a directed edge: on one stream at each end, and received as they are sent.
void checkEdges(const RowGraph &graph, const Execution &execution, Faults &faults);

/// "stage 1, time 5: forward of microbatch 3"; of a row that never ran, "stage 1, never: …".
std::string sayWhere(const RowGraph &graph, const Execution &execution, RowId id);

} // namespace hocket::schedule
