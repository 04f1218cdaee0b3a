// Recognises a data file by what is in it.
#ifndef HOCKET_RUNTIME_CHECKPOINT_DATAIDENTITY_H
#define HOCKET_RUNTIME_CHECKPOINT_DATAIDENTITY_H

#include "runtime/Checkpoint/Index.h"

namespace hocket::checkpoint {

// Size, and a checksum of 64 pieces of 4 KiB spread evenly over the file (of all of it where it is not larger). Finds
// another file or a longer one; a change of a few bytes in the middle of a large one it may miss.
runtime::Result<DataIdentity> identify(const std::string &path, std::string_view type);

} // namespace hocket::checkpoint
#endif
