// Greedy: each number goes to its simplest value, or half of the way, or one step; again until nothing helps.
#include "test/property/Shrink.h"

namespace hocket::property {

/// A named split fewer, for plans that name them.
static bool dropSplits(Draw &draw, const std::function<bool(const Draw &)> &fails, int &tries) {
  bool smaller = false;
  if (draw.splits != Named)
    return false;
  for (int bit = 0; bit < 10 && tries > 0; ++bit) {
    Draw next = draw;
    next.splitMask &= ~(int64_t(1) << bit);
    if (next.splitMask != draw.splitMask && namedSplits(next).size() < namedSplits(draw).size() && --tries >= 0 &&
        fails(next))
      draw = next, smaller = true;
  }
  return smaller;
}

Draw shrink(Draw draw, const std::function<bool(const Draw &)> &fails, int tries) {
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = dropSplits(draw, fails, tries);
    for (const Field &field : fields()) {
      int64_t now = draw.*field.value;
      if (field.simplest < 0 || now == field.simplest)
        continue;
      for (int64_t to : {field.simplest, (now + field.simplest) / 2, now - 1}) {
        if (to == draw.*field.value || tries <= 0)
          continue;
        Draw next = draw;
        next.*field.value = to;
        --tries;
        if (fails(next)) {
          draw = next;
          smaller = true;
          break;
        }
      }
    }
  }
  return draw;
}
} // namespace hocket::property
