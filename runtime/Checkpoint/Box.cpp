// Box arithmetic; contracts in Box.h.
#include "runtime/Checkpoint/Box.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace hocket::checkpoint {

Box wholeBox(std::span<const uint64_t> shape) {
  Box result;
  for (uint64_t extent : shape)
    result.push_back({0, extent});
  return result;
}

uint64_t volume(const Box &box) {
  uint64_t result = 1;
  for (const program::Range &range : box)
    result *= range.size();
  return result;
}

std::string text(const Box &box) {
  std::string result;
  for (const program::Range &range : box)
    result += fmt::format("{}[{}, {})", result.empty() ? "" : " x ", range.begin, range.end);
  return box.empty() ? "scalar" : result;
}

std::string shapeText(std::span<const uint64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::optional<Box> intersect(const Box &a, const Box &b) {
  if (a.size() != b.size())
    return {};
  Box result(a.size());
  for (size_t dim = 0; dim < a.size(); ++dim) {
    result[dim] = {std::max(a[dim].begin, b[dim].begin), std::min(a[dim].end, b[dim].end)};
    if (result[dim].begin >= result[dim].end)
      return {};
  }
  return result;
}

static bool inside(std::span<const uint64_t> shape, const Box &box) {
  if (box.size() != shape.size())
    return false;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (box[dim].begin >= box[dim].end || box[dim].end > shape[dim])
      return false;
  return true;
}

/// The dimension along which the boxes lie most apart: sorted by it, a box meets few others.
static size_t sweepDim(size_t dims, const std::vector<Box> &boxes) {
  size_t best = 0, most = 0;
  for (size_t dim = 0; dim < dims; ++dim) {
    std::set<uint64_t> begins;
    for (const Box &box : boxes)
      begins.insert(box[dim].begin);
    if (begins.size() > most)
      most = begins.size(), best = dim;
  }
  return best;
}

std::string partitionFault(std::span<const uint64_t> shape, const std::vector<Box> &boxes) {
  unsigned __int128 held = 0;
  for (const Box &box : boxes) {
    if (!inside(shape, box))
      return fmt::format("box {} is no part of {}", text(box), shapeText(shape));
    held += volume(box);
  }
  uint64_t all = volume(wholeBox(shape));
  if (shape.empty() && boxes.size() > 1)
    return fmt::format("a scalar is stored {} times", boxes.size());
  size_t by = sweepDim(shape.size(), boxes);
  std::vector<const Box *> sorted;
  for (const Box &box : boxes)
    sorted.push_back(&box);
  std::sort(sorted.begin(), sorted.end(),
            [&](const Box *a, const Box *b) { return !a->empty() && (*a)[by].begin < (*b)[by].begin; });
  for (size_t i = 0; i < sorted.size() && !shape.empty(); ++i)
    for (size_t j = i + 1; j < sorted.size() && (*sorted[j])[by].begin < (*sorted[i])[by].end; ++j)
      if (intersect(*sorted[i], *sorted[j]))
        return fmt::format("boxes {} and {} overlap", text(*sorted[i]), text(*sorted[j]));
  if (held != all)
    return fmt::format("{} of {} elements are stored", static_cast<uint64_t>(held), all);
  return {};
}

runtime::Status forEachSlab(const Box &box, uint64_t most, const std::function<runtime::Status(const Box &)> &part) {
  if (volume(box) == 0)
    return {};
  // Dimensions after `cut` are taken whole, `cut` in pieces, those before it one index at a time.
  size_t cut = box.size();
  uint64_t inner = 1;
  while (cut > 0 && inner * box[cut - 1].size() <= most)
    inner *= box[--cut].size();
  if (cut == 0)
    return part(box);
  --cut;
  uint64_t length = std::max<uint64_t>(1, most / inner);
  Box slab = box;
  for (size_t dim = 0; dim < cut; ++dim)
    slab[dim].end = slab[dim].begin + 1;
  for (;;) {
    for (uint64_t at = box[cut].begin; at < box[cut].end; at += length) {
      slab[cut] = {at, std::min(box[cut].end, at + length)};
      if (runtime::Status done = part(slab); !done)
        return done;
    }
    size_t dim = cut;
    while (dim > 0 && slab[dim - 1].end == box[dim - 1].end) {
      --dim;
      slab[dim] = {box[dim].begin, box[dim].begin + 1};
    }
    if (dim == 0)
      return {};
    slab[dim - 1] = {slab[dim - 1].end, slab[dim - 1].end + 1};
  }
}

} // namespace hocket::checkpoint
