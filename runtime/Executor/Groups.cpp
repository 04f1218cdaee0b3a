// Enumeration of all communicators; contracts in Groups.h.
#include "runtime/Executor/Groups.h"
#include <numeric>

namespace hocket::runtime {

static void addProgramGroups(const program::Mesh &mesh, const program::Program &program, GroupTable &result) {
  if (!program.communicators())
    return;
  for (uint32_t index = 0; index < program.communicators()->size(); ++index) {
    const program::Communicator &communicator = *program.communicators()->Get(index);
    std::vector<int> &groupOf = result.groupOf.emplace_back(mesh.worldSize(), -1);
    for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank) {
      if (groupOf[rank] >= 0)
        continue;
      std::vector<uint32_t> members = program::members(mesh, rank, communicator);
      if (members.empty())
        continue;
      int id = static_cast<int>(result.groups.size());
      for (uint32_t member : members)
        groupOf[member] = id;
      result.groups.push_back(
          {static_cast<uint32_t>(id), communicator.name()->str(), std::vector<int>(members.begin(), members.end())});
      result.communicatorOf.push_back(index);
    }
  }
}

GroupTable groupsOf(const program::Mesh &mesh, const program::Program &program) {
  GroupTable result;
  addProgramGroups(mesh, program, result);
  Group all{static_cast<uint32_t>(result.groups.size()), "all ranks", std::vector<int>(mesh.worldSize())};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  bool apart = program.target()->string_view() != "cpu"; // the program's are for memory of the device
  for (const Group &group : result.groups)
    if (!apart && group.ranks == all.ranks && result.everyone == GroupTable::none)
      result.everyone = group.id;
  if (result.everyone == GroupTable::none) {
    result.everyone = all.id;
    result.groups.push_back(std::move(all));
    result.communicatorOf.push_back(GroupTable::none);
  }
  return result;
}

} // namespace hocket::runtime
