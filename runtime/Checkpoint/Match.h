// Which tensor of a checkpoint each state tensor of a program starts from, and what keeps it from starting at all.
//
//   in the program           in the checkpoint               starts from
//   any (kind, name)         the same, same shape and type   that one
//   a parameter              of another type, and a master   the master, which is more exact (a note)
//   anything else            the same of another type        that one, converted (a note)
//   a master                 no master of that name          the parameter (a note)
//   the scalar "updates"     none of that name               the steps done (a note)
//   another scalar           none of that name               its initial value (a note)
//   a parameter, a moment    none, or another shape          a fault
//   none of that name        a parameter                     a fault
//   none of that name        anything else                   it is left out (a note)
#ifndef HOCKET_RUNTIME_CHECKPOINT_MATCH_H
#define HOCKET_RUNTIME_CHECKPOINT_MATCH_H

#include "runtime/Checkpoint/Index.h"
#include <map>

namespace hocket::checkpoint {

// The scalar that counts the updates of a recipe that may skip steps; one that may not counts steps.
inline constexpr char updatesName[] = "updates";

struct Match {
  // By (kind, name) of the program: the tensor of the index; nothing: the initial value.
  std::map<std::pair<program::StateKind, std::string>, std::optional<uint32_t>> sources;
  std::vector<std::string> notes;  // what is not as it was, for people
  std::vector<std::string> faults; // every tensor that differs; empty: the program can start
};

// `tensors`: of the program (layoutOf).
Match matchTensors(const std::vector<Tensor> &tensors, const Index &from);

// What else must be equal for a run to go on: the sequence, in which the data cursor counts. Another model name or
// recipe, global batch included, is a note.
void matchRun(const Index &program, const Index &from, Match &match);

} // namespace hocket::checkpoint
#endif
