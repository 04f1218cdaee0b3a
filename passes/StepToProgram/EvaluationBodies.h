// Bodies of an evaluation that differ from those of training.
#pragma once
#include "runtime/Program/program_generated.h"

namespace hocket::step {

/// Forward copies out what backward will fetch; in an evaluation nobody does. Where entry "eval" runs a body that
/// copies something to the host's slots which no body of the entry copies back, it gets a body of its own without those
/// transfers, and awaits count what is left on their stream. All else stays, so that what the step program was proved
/// to do holds of it: less is in flight, and nothing reads what is not copied.
void dropUnreadTransfers(program::RankProgramT &rank);
} // namespace hocket::step
