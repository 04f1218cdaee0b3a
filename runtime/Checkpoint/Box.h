// Boxes: the part of a tensor that a rank holds or a shard file stores, one range a dimension; no dimensions: a scalar.
#ifndef HOCKET_RUNTIME_CHECKPOINT_BOX_H
#define HOCKET_RUNTIME_CHECKPOINT_BOX_H

#include "runtime/Program/Mesh.h"
#include "runtime/Program/Result.h"
#include <functional>
#include <optional>

namespace hocket::checkpoint {

using Box = std::vector<program::Range>;

Box wholeBox(std::span<const uint64_t> shape);
uint64_t volume(const Box &box);                        // 1 of a scalar
std::string text(const Box &box);                       // "[0, 128) x [64, 128)"; "scalar"
std::string shapeText(std::span<const uint64_t> shape); // "128x3x4x32"; "scalar"

// The part that both hold; nothing where they share no element.
//   [0,4)x[0,4) and [2,6)x[1,3) -> [2,4)x[1,3);  [0,4) and [4,8) -> nothing;  scalar and scalar -> scalar
std::optional<Box> intersect(const Box &a, const Box &b);

// What keeps the boxes from holding every element of the shape exactly once: outside, overlapping, or not all of it.
// Empty where nothing does. The shape has at most 2^48 elements.
std::string partitionFault(std::span<const uint64_t> shape, const std::vector<Box> &boxes);

// Cuts a box, in row-major order, into parts of at most `most` elements (at least 1) that lie contiguously in it, and
// calls `part` with each until one fails. An empty box has no parts.
runtime::Status forEachSlab(const Box &box, uint64_t most, const std::function<runtime::Status(const Box &)> &part);

} // namespace hocket::checkpoint
#endif
