// Which tensor of a checkpoint each state tensor of a program starts from, and what keeps it from starting at all.
//
//   in the program                     in the checkpoint                                   starts from
//   any (kind, name)                   the same (kind, name), same shape, same type        that one
//   a parameter of another type        a master of that name                               the master, which is more
//   exact anything else of another type      the same (kind, name), same shape                   that one, converted (a
//   note) a master                           no master of that name                              the parameter a scalar
//   none of that name                                   its initial value (a note) a parameter, a moment none of that
//   name, or another shape                 a fault nothing of that name               a parameter a fault nothing of
//   that name               a moment, a master, a scalar                        it is left out (a note)
#ifndef HOCKET_RUNTIME_CHECKPOINT_MATCH_H
#define HOCKET_RUNTIME_CHECKPOINT_MATCH_H

#include "runtime/Checkpoint/Index.h"
#include <map>

namespace hocket::checkpoint {

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
