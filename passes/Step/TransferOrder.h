// Where a body's transfers run beside computing (internal to step-overlap): on stream "fetch" what comes from the
// host's memory, on stream "offload" what goes there. As in OverlapOrder.h, an op moves only where its operand is made,
// a load or store never past a store to, or a load of, its buffer.
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {

/// Transfers in the order in which they are used, in groups: what a layer of the model uses together; in a body that
/// runs once a step, what one op uses (a parameter's optimizer state), small ones with those after them. In this body
/// two groups are on the device beside what is in use, never all:
///   what is fetched starts while the group before it is used, as that gives room: a group's bytes ahead; the first
///   group starts with the body
///   what leaves starts when it is made, and is awaited when the largest group's bytes have been started after it, or
///   at the end of the body
/// What the body loads again, or stores twice, is left with the stream that computes.
void placeTransfers(BodyOp body);
} // namespace hocket::step
