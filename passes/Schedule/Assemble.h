// From the order of bodies on each stage to tables: adds messages, streams, slots and waits. A solver decides only the
// order.
#pragma once

#include "passes/Schedule/Problem.h"

#include <optional>

namespace hocket::schedule {

/// One body in a stage's order; Begin and Update are added by assemble().
struct Step {
  BodyKind kind = BodyKind::Forward;
  uint16_t chunk = 0;
  uint32_t microbatch = 0;
};
/// For each stage, its bodies in the order in which stream 0 runs them.
using Orders = std::vector<std::vector<Step>>;

/// Tables for `orders`, whose chunks and microbatches are those of the problem and which run each body of the problem
/// exactly once, with a forward before its backward (the judge, not this function, is the proof). A stage gets as many
/// slots as its order has in flight, and `receiveAhead` more where that many can be used; a slot is taken by the
/// receive of an activation (or by the forward that has none) and free after the last body and the last send that read
/// it. Messages of a directed edge go in the order in which the sender makes them. Rows stand such that every wait is
/// for a row above. Fails when a message that a body needs is never sent or finds no slot, and when a stage needs more
/// than maxInFlight slots or maxStreams streams. Linear in rows.
std::optional<Tables> assemble(const Problem &problem, const Orders &orders, Faults &faults);

} // namespace hocket::schedule
