// Copies a part of a tensor from one row-major buffer into another, converting its elements where the types differ.
#ifndef HOCKET_RUNTIME_CHECKPOINT_COPYBOX_H
#define HOCKET_RUNTIME_CHECKPOINT_COPYBOX_H

#include "runtime/Checkpoint/Box.h"

namespace hocket::checkpoint {

// How a buffer holds a box: row-major over `extents`, which are at least the box's sizes (more: padding at the ends).
struct View {
  Box box;
  std::vector<uint64_t> extents;
  program::DType type;
};
// Without padding.
View denseView(Box box, program::DType type);

// Whether values of one type may be stored as another: floating-point types among each other (to nearest, ties to even;
// a value that is too large becomes infinite), integers among each other.
bool convertible(program::DType from, program::DType to);

// Copies `part`, which lies in both boxes; the types are convertible. Integers keep their low bits. Buffers need no
// alignment.
void copyBox(const Box &part, const View &from, const std::byte *source, const View &to, std::byte *target);

} // namespace hocket::checkpoint
#endif
