// Collectives of many small tensors as few of larger ones.
#pragma once
#include "passes/DistToStep/FinalBodies.h"

namespace hocket::step {

/// In every body of `program`, collectives of one kind over the same axes, among `data`, go together in buckets of at
/// most `bucketBytes` (whole tensors, as one rank sends or receives them); what is larger goes alone. A bucket holds
/// piece k of every tensor behind one another, for each rank k: what each rank gets of each tensor is the same, and is
/// added in the same order of ranks, whatever the size of buckets.
///
/// Gathers of what only has to be loaded go with the first one that is needed; they are made no earlier than that, and
/// hold no more than a bucket beyond what is in use. Reductions, and gathers of what is computed, go with the last one
/// that fits; what uses them waits. With `adders`, only reductions of update whose accumulators are ready with the
/// same body go together (FinalBodies.h).
void coalesceCollectives(ProgramOp program, dist::MeshOp mesh, llvm::ArrayRef<dist::AxisRef> data, int64_t bucketBytes,
                         const LastAdders *adders = nullptr);
} // namespace hocket::step
