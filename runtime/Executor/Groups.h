// The communicators of the whole cluster: every communicator of the program, once for each set of ranks it stands for.
#ifndef HOCKET_RUNTIME_EXECUTOR_GROUPS_H
#define HOCKET_RUNTIME_EXECUTOR_GROUPS_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Program/Mesh.h"

namespace hocket::runtime {

// `groups` are in one fixed order: by communicator of the program, then by lowest rank. groups[i].id == i. One group
// holds all ranks in order: on a CPU the first of the program's that does, else one more at the end. (What the ranks of
// a program for GPUs say to each other as hosts lies in the host's memory, where the program's communicators do not
// reach.)
struct GroupTable {
  static constexpr uint32_t none = UINT32_MAX;
  std::vector<Group> groups;
  std::vector<uint32_t> communicatorOf;  // of a group: its communicator in the program; none: it has none
  uint32_t everyone = none;              // the group of all ranks
  std::vector<std::vector<int>> groupOf; // [communicator][rank] -> group, -1 where the rank is no member
};
GroupTable groupsOf(const program::Mesh &mesh, const program::Program &program);

} // namespace hocket::runtime
#endif
