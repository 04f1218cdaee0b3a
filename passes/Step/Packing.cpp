// Greedy packings, and a search over their order.
#include "passes/Step/Packing.h"
#include "passes/Step/BodyMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <numeric>
using namespace hocket;
using namespace hocket::step;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
enum class Fit { First, Best };

class Packer {
public:
  Packer(llvm::MutableArrayRef<Packed> pieces, ArrayRef<ByteRange> taken) : pieces(pieces) {
    for (const ByteRange &range : taken)
      fixed.push_back({range.begin, aligned(range.end), 0, ~0u});
    llvm::sort(fixed, [](const Place &a, const Place &b) { return a.begin < b.begin; });
    least = leastBytes(pieces);
  }

  int64_t run() {
    SmallVector<unsigned> byBirth(pieces.size());
    std::iota(byBirth.begin(), byBirth.end(), 0);
    llvm::stable_sort(byBirth, [&](unsigned a, unsigned b) { return pieces[a].begin < pieces[b].begin; });
    consider(byBirth);
    if (pieces.size() <= 10000) {
      considerBy(byBirth, [](const Packed &piece) { return double(piece.bytes); });
      considerBy(byBirth, [](const Packed &piece) { return double(piece.bytes) * (piece.end - piece.begin + 1); });
      considerBy(byBirth, [](const Packed &piece) { return double(piece.end - piece.begin); });
      improve();
    }
    for (auto [piece, offset] : llvm::zip_equal(pieces, bestOffsets))
      piece.offset = offset;
    return best;
  }

private:
  /// Bytes that are in use at the times [from, to].
  struct Place {
    int64_t begin, end;
    unsigned from, to;
  };

  void considerBy(ArrayRef<unsigned> byBirth, llvm::function_ref<double(const Packed &)> weight) {
    SmallVector<unsigned> order(byBirth);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return weight(pieces[a]) > weight(pieces[b]); });
    consider(order);
  }

  /// Keeps the outcome if it needs less than all before.
  bool consider(ArrayRef<unsigned> order) {
    bool better = false;
    for (Fit fit : {Fit::First, Fit::Best}) {
      int64_t top = best == least ? best : place(order, fit);
      if (best >= 0 && top >= best)
        continue;
      best = top, bestFit = fit, better = true;
      bestOrder.assign(order.begin(), order.end());
      bestOffsets = llvm::map_to_vector(pieces, [](const Packed &piece) { return piece.offset; });
    }
    return better;
  }

  int64_t place(ArrayRef<unsigned> order, Fit fit) {
    std::vector<Place> places(fixed); // by begin
    int64_t top = 0;
    for (unsigned index : order) {
      Packed &piece = pieces[index];
      int64_t bytes = aligned(piece.bytes), gapBegin = 0, found = -1, foundBytes = INT64_MAX;
      for (const Place &other : places) {
        if (other.to < piece.begin || piece.end < other.from)
          continue;
        if (int64_t gap = other.begin - gapBegin; gap >= bytes && gap < foundBytes) {
          found = gapBegin, foundBytes = gap;
          if (fit == Fit::First)
            break;
        }
        gapBegin = std::max(gapBegin, other.end);
      }
      piece.offset = found < 0 ? gapBegin : found;
      Place own{piece.offset, piece.offset + bytes, piece.begin, piece.end};
      places.insert(llvm::upper_bound(places, own, [](const Place &a, const Place &b) { return a.begin < b.begin; }),
                    own);
      top = std::max(top, own.end);
    }
    return top;
  }

  /// What ends highest came too late to find room: it goes to the front of the order, or, where that has been tried,
  /// half way there.
  void improve() {
    int64_t tries = std::min<int64_t>(200, 50'000'000 / int64_t(1 + pieces.size() * pieces.size()));
    SmallVector<unsigned> order(bestOrder);
    for (int64_t i = 0; i < tries && best > least; ++i) {
      int64_t top = place(order, bestFit);
      auto highest = llvm::find_if(
          order, [&](unsigned index) { return pieces[index].offset + aligned(pieces[index].bytes) == top; });
      if (highest == order.end() || highest == order.begin())
        return;
      auto to = i % 2 ? order.begin() + (highest - order.begin()) / 2 : order.begin();
      std::rotate(to, highest, highest + 1);
      consider(order);
    }
  }

  llvm::MutableArrayRef<Packed> pieces;
  std::vector<Place> fixed;
  int64_t least, best = -1;
  Fit bestFit = Fit::First;
  SmallVector<unsigned> bestOrder;
  SmallVector<int64_t> bestOffsets;
};
} // namespace

int64_t hocket::step::leastBytes(ArrayRef<Packed> pieces) {
  SmallVector<std::pair<unsigned, int64_t>> changes; // what ends makes room after its last time
  for (const Packed &piece : pieces) {
    changes.push_back({piece.begin, aligned(piece.bytes)});
    changes.push_back({piece.end + 1, -aligned(piece.bytes)});
  }
  llvm::sort(changes);
  int64_t now = 0, most = 0;
  for (auto [time, bytes] : changes)
    most = std::max(most, now += bytes);
  return most;
}

int64_t hocket::step::leastTop(int64_t bytes, ArrayRef<ByteRange> taken) {
  SmallVector<ByteRange> ranges(taken);
  llvm::sort(ranges, [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  int64_t end = 0; // of what is looked at; `bytes` must lie behind it
  for (const ByteRange &range : ranges) {
    if (range.begin - end >= bytes)
      break;
    bytes -= std::max<int64_t>(0, range.begin - end);
    end = std::max(end, aligned(range.end));
  }
  return bytes ? end + bytes : 0;
}

int64_t hocket::step::packPieces(llvm::MutableArrayRef<Packed> pieces, ArrayRef<ByteRange> taken) {
  return pieces.empty() ? 0 : Packer(pieces, taken).run();
}
