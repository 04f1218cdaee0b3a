// How microbatches live in their slots, as the tables of a stage tell it (internal to step-verify-program).
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Step/SlotChains.h"
#include <set>

namespace hocket::step {

/// What happens to one slot between a microbatch's first row and its last. Rows order no more than they say: a message
/// is on its way from the earliest moment at which its row may start to the latest at which it may end.
struct SlotLife {
  struct Body {
    BodyKind kind;
    uint32_t chunk;
    auto operator<=>(const Body &) const = default;
  };
  struct Traffic {
    uint32_t startsAfter; ///< so many bodies of the life have surely finished when the message starts
    uint32_t overBefore;  ///< it has surely finished when body `overBefore` starts; bodies.size(): never surely
    uint32_t index;       ///< in the table's messages
    std::vector<uint32_t> follows; ///< places in `traffic` of those that have surely finished when it starts
    auto operator<=>(const Traffic &) const = default;
  };
  std::vector<Body> bodies;     ///< in the order in which they run
  std::vector<Traffic> traffic; ///< one that follows another stands behind it
  auto operator<=>(const SlotLife &) const = default;
};

/// The different lives of a table, by the head of their chain. Linear in rows. What is before what is answered by the
/// judge's clocks (schedule::HappensBefore), from the stage's own streams and waits alone.
std::map<uint64_t, std::set<SlotLife>> slotLives(ProgramOp program, const SlotChains &chains, TableAttr table);

/// Rows that use slots and of which the table does not say that they have finished when `update` starts. None if the
/// table has no update.
std::vector<Row> openAtUpdate(ProgramOp program, TableAttr table);
} // namespace hocket::step
