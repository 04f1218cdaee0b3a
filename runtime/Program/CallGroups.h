// Which collectives of a body the runtime issues as one, within ncclGroupStart and ncclGroupEnd: NCCL makes one kernel
// of them, so that small ones pay for one start instead of several.
//
//   coalesced by the compiler (a bucket)        one collective over one buffer; nothing is left to group
//   all_reduce a over dp; all_reduce b over dp  one group
//   shift a over cp; shift b over cp            one group, of two sends and two receives
//   all_reduce a over dp; all_reduce b over tp  alone: kernels of two communicators follow one another anyhow
//   all_reduce a; gelu a; all_reduce b          alone: a would wait for b
//   all_reduce a -> b; all_gather b -> c        alone: nothing orders the calls of a group
//   over a communicator across stages           alone: all members must group alike, and their bodies differ
//   messages                                    alone: each waits for rows of its own
//
// A group is of one communicator and of one stage, so all its members issue it alike, and in the order in which calls
// are issued (IssueOrder.h) it is one call: what is in no circle without groups is in none with them.
#ifndef HOCKET_RUNTIME_PROGRAM_CALLGROUPS_H
#define HOCKET_RUNTIME_PROGRAM_CALLGROUPS_H

#include "runtime/Program/program_generated.h"

namespace hocket::program {

// One behind the last instruction that is issued together with `first`; first + 1 where it is issued alone. Groups are
// as long as they can be. The program is checked.
uint32_t endOfGroup(const Program &program, const Body &body, uint32_t first);

} // namespace hocket::program
#endif
