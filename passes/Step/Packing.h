// Offsets for pieces of memory of which it is known when they are needed (offline dynamic storage allocation).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace hocket::step {

/// Bytes [begin, end).
struct ByteRange {
  int64_t begin, end;
};

/// Something that needs `bytes` from the time `begin` to the time `end`, both included.
struct Packed {
  int64_t bytes;
  unsigned begin, end;
  int64_t offset = 0;
};

/// Gives everything an aligned offset at which it meets neither anything else that is needed at one of its times nor
/// what is `taken` all along, and returns the end of the highest, aligned. Several orders, each by first and by best
/// fit; then whatever ends highest is moved forward in the best order, again and again, as long as that may help.
/// The same pieces always get the same offsets. At most about 10^8 comparisons, and for more than 10^4 pieces no more
/// than one order.
int64_t packPieces(llvm::MutableArrayRef<Packed> pieces, llvm::ArrayRef<ByteRange> taken = {});

/// The most that is needed at one time, each piece aligned: no packing needs less (where nothing is taken).
int64_t leastBytes(llvm::ArrayRef<Packed> pieces);

/// The lowest end below which so many bytes are free beside what is `taken`, which may overlap: nothing that needs them
/// at one time ends below. Where nothing is taken: `bytes`.
///   leastTop(128, {{64, 192}}) = 256: 64 bytes before, 64 behind
int64_t leastTop(int64_t bytes, llvm::ArrayRef<ByteRange> taken);

} // namespace hocket::step
