// The file of --hosts, in Open MPI's form: a host a line, with how many ranks it takes.
//   # comment
//   node1 slots=4
//   node2            one slot where none are named
#ifndef HOCKET_TOOLS_HOCKET_RUN_HOSTFILE_H
#define HOCKET_TOOLS_HOCKET_RUN_HOSTFILE_H

#include "runtime/Program/Result.h"
#include <cstdint>
#include <vector>

namespace hocket::run {

struct Host {
  std::string name;
  uint64_t slots = 1;
  size_t line = 0; // of the file, from 1
};

class Hostfile {
public:
  // Fails with every fault of the file: it cannot be read, is empty, has words that are no host, slots=N or
  // max_slots=N, names a host twice, or has fewer slots than `ranks`.
  static runtime::Result<Hostfile> read(const std::string &path, uint64_t ranks);
  const std::vector<Host> &hosts() const { return list; }
  std::string path;

private:
  std::vector<Host> list;
};

} // namespace hocket::run
#endif
