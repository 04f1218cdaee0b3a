// Which rank of a program saves what, computed from its state table alone: any process can say it of any rank.
// Every box of a tensor is owned by one rank: of the first stage that holds it, the one whose coordinates are 0 along
// all axes that do not split it.
#ifndef HOCKET_RUNTIME_CHECKPOINT_LAYOUT_H
#define HOCKET_RUNTIME_CHECKPOINT_LAYOUT_H

#include "runtime/Checkpoint/Index.h"

namespace hocket::checkpoint {

// The index of a checkpoint of this program, all but step, cursor, data, and the files' sizes and checksums. Files are
// those of the ranks that own something, by rank.
Index layoutOf(const program::Program &program);

// The file that a rank writes; nothing where it owns nothing.
std::optional<uint32_t> fileOf(const Index &layout, uint32_t rank);

// What one file holds, in the order in which it lies there: elements of large types first, so that all are aligned.
struct Part {
  uint32_t tensor, piece; // of the index, of its tensor
};
std::vector<Part> partsOf(const Index &layout, uint32_t file);

// Bytes of a file's tensors.
uint64_t dataBytes(const Index &layout, const std::vector<Part> &parts);
// Bytes of all tensors.
uint64_t dataBytes(const Index &layout);

} // namespace hocket::checkpoint
#endif
