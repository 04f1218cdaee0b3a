// The judge of one partitioned training step. It knows dialects only: what an op does to shards it takes from factor
// rules, linearity and the meaning of collectives, and never from the partitioner.
//
// By induction over a region: if what the operands claim is true, and each op makes of its operands what it claims,
// then all claims are true. Inputs and parameters are what their slots say, because the runtime deals them out so.
//
// claims (Claims.h)
//   C1   axes are axes of the mesh; the sub-axes of one axis nest
//   C2   every result and slot carries #dist.shard     C3  on the mesh of the step
//   C4   a local type is that of the global type under the sharding: padded shards, nested rounding up
// ops of the mathematics (FactorCheck.h, IndexCheck.h)
//   C5   operands that share a factor are split alike  C6  a whole factor is not split
//   C7   an axis splits one factor of an op
//   C8   an operand is partial only if the op is linear in it       C9  and only by sum
//   C10  two multilinear operands are not partial over one axis     C11 joint operands are partial over the same axes
//   C12  no axis makes one operand partial and splits a factor of another
//   C13  the claim: split as the operands are, partial over their axes and those of split factors that are reduced
//   C14  offsets: of the factor that needs one; none where it is whole
//   C15  what is reduced over padding was masked with the neutral element
// collectives (CollectiveCheck.h)
//   C16  joins go over axes over which the value is partial, by its reduction: never over axes that split it or leave
//        it whole
//   C17  gathers take the last axes of a dimension     C18 slices split what is whole over their axes
//   C19  masks are of the dimension they mask          C20 the claim      C21 no stages yet
// slots (SlotCheck.h)
//   C22  outputs are whole; only accumulators and values are partial at rest
//   C23  reads and writes are what the slot holds
//   C24  every op is one of these
//   C25  blocks that go around a ring, and C26 the order of tokens: RingCheck.h
//   C27  what is made again is what forward made: RecomputeCheck.h
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {

/// Judges `step`, whose values live on `mesh`. Reports every fault.
llvm::LogicalResult judgePartition(nn::TrainingStepOp step, MeshOp mesh);
} // namespace hocket::dist
