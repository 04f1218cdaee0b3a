// Checkpoints into other files without running anything: for another plan, and as one file for other programs. Both
// stream: no more than 4 MiB of a tensor is in memory.
#ifndef HOCKET_RUNTIME_CHECKPOINT_CONVERT_H
#define HOCKET_RUNTIME_CHECKPOINT_CONVERT_H

#include "runtime/Checkpoint/Folder.h"
#include "runtime/Checkpoint/Match.h"

namespace hocket::checkpoint {

// Every file of a checkpoint against its checksum, which reads all of it.
std::vector<std::string> contentFaults(const Found &from, const Progress &progress);

// The checkpoint as the ranks of a program would have saved it, in FOLDER/step-N. Step, cursor, seed, data, recipe and
// batch stay. `layout`: of the program (layoutOf); `match`: of its tensors, without faults. Tensors that have no source
// are left out. Fails where FOLDER holds a checkpoint of that step.
runtime::Status reshard(const Found &from, Index layout, const Match &match, const std::string &folder);

// All parameters as one safetensors file, under their names and in their natural shapes, sorted by name; `type`: all
// converted to it, from the masters where these are more exact. Replaces a file of that name once it is complete.
struct Exported {
  size_t tensors = 0;
  uint64_t elements = 0, bytes = 0;
};
runtime::Result<Exported> exportParameters(const Found &from, std::optional<program::DType> type,
                                           const std::string &path);

} // namespace hocket::checkpoint
#endif
