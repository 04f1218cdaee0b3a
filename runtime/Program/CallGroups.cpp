// See CallGroups.h.
#include "runtime/Program/CallGroups.h"
#include "runtime/Program/Check.h"
#include "runtime/Program/OpKinds.h"

namespace hocket::program {

// Buffers of one row; the spaces lie apart (checkBuffer).
static bool overlap(const Buffer &a, const Buffer &b) {
  return a.space() == b.space() && a.offset() < b.offset() + b.bytes() && b.offset() < a.offset() + a.bytes();
}

// Of two collectives, whether each leaves alone what the other reads and writes: buffers are in, out.
static bool independent(const Instruction &a, const Instruction &b) {
  const Buffer &inA = *a.buffers()->Get(0), &outA = *a.buffers()->Get(1);
  const Buffer &inB = *b.buffers()->Get(0), &outB = *b.buffers()->Get(1);
  return !overlap(outA, inB) && !overlap(outA, outB) && !overlap(inA, outB);
}

uint32_t endOfGroup(const Program &program, const Body &body, uint32_t first) {
  const auto &instructions = *body.instructions();
  const Instruction &leader = *instructions.Get(first);
  uint32_t end = first + 1;
  if (!isCollective(leader.op()) || spansStages(program, *program.communicators()->Get(leader.communicator())))
    return end;
  for (; end < instructions.size(); ++end) {
    const Instruction &next = *instructions.Get(end);
    if (!isCollective(next.op()) || next.communicator() != leader.communicator() || next.stream() != leader.stream())
      return end;
    for (uint32_t i = first; i < end; ++i)
      if (!independent(*instructions.Get(i), next))
        return end;
  }
  return end;
}

} // namespace hocket::program
