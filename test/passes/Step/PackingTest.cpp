// Packings of pieces with lifetimes: sound, never worse than the plainest, and as small as can be where that is known.
#include "passes/Step/Packing.h"
#include "passes/Step/BodyMemory.h"
#include "llvm/ADT/SmallVector.h"
#include <gtest/gtest.h>
#include <random>

using namespace hocket::step;

namespace {
using Pieces = llvm::SmallVector<Packed>;

bool meets(const Packed &a, const Packed &b) { return a.begin <= b.end && b.begin <= a.end; }
bool overlaps(int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) { return a < b + bBytes && b < a + aBytes; }

void expectSound(const Pieces &pieces, int64_t top, llvm::ArrayRef<ByteRange> taken = {}) {
  for (const Packed &a : pieces) {
    EXPECT_EQ(a.offset % bufferAlignment, 0);
    EXPECT_LE(a.offset + a.bytes, top);
    for (const ByteRange &range : taken)
      EXPECT_FALSE(overlaps(a.offset, a.bytes, range.begin, range.end - range.begin));
    for (const Packed &b : pieces)
      EXPECT_FALSE(&a != &b && meets(a, b) && overlaps(a.offset, a.bytes, b.offset, b.bytes));
  }
}

/// First fit in order of birth.
int64_t plain(Pieces pieces) {
  int64_t top = 0;
  std::stable_sort(pieces.begin(), pieces.end(), [](auto &a, auto &b) { return a.begin < b.begin; });
  for (size_t i = 0; i < pieces.size(); ++i) {
    llvm::SmallVector<ByteRange> busy;
    for (size_t k = 0; k < i; ++k)
      if (meets(pieces[k], pieces[i]))
        busy.push_back({pieces[k].offset, pieces[k].offset + pieces[k].bytes});
    pieces[i].offset = firstFit(busy, pieces[i].bytes);
    top = std::max(top, aligned(pieces[i].offset + pieces[i].bytes));
  }
  return top;
}

Pieces randomPieces(unsigned seed, unsigned count) {
  std::mt19937 random(seed);
  Pieces pieces;
  for (unsigned i = 0; i < count; ++i) {
    unsigned begin = random() % count, length = random() % (random() % 4 ? 4 : count);
    pieces.push_back({int64_t(64 * (1 + random() % (random() % 3 ? 8 : 64)) - random() % 64), begin, begin + length});
  }
  return pieces;
}

TEST(Packing, IsSoundAndNoWorseThanFirstFit) {
  double worst = 1, sum = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Pieces pieces = randomPieces(seed, 1 + seed % 60);
    int64_t top = packPieces(pieces), least = leastBytes(pieces);
    expectSound(pieces, top);
    EXPECT_GE(top, least);
    EXPECT_LE(top, plain(pieces));
    worst = std::max(worst, double(top) / double(least)), sum += double(top) / double(least);
  }
  std::printf("over what is needed at once: mean %.4f, worst %.4f\n", sum / 200, worst);
  EXPECT_LT(sum / 200, 1.02);
}

// In order of birth the first leaves a hole below the second that is too small for the third.
TEST(Packing, FindsRoomThatFirstFitDoesNot) {
  Pieces pieces{{64, 0, 1}, {64, 0, 5}, {128, 2, 5}};
  EXPECT_EQ(leastBytes(pieces), 192);
  EXPECT_EQ(plain(pieces), 256);
  EXPECT_EQ(packPieces(pieces), 192);
  expectSound(pieces, 192);
}

TEST(Packing, GoesAroundWhatIsTaken) {
  llvm::SmallVector<ByteRange> taken{{640, 700}, {128, 256}};
  double sum = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Pieces pieces = randomPieces(seed, 20);
    int64_t top = packPieces(pieces, taken), least = leastTop(leastBytes(pieces), taken);
    expectSound(pieces, top, taken);
    EXPECT_GE(top, least);
    sum += double(top) / double(least);
  }
  std::printf("over what is needed at least around what is taken: mean %.4f\n", sum / 50);
  EXPECT_LT(sum / 50, 1.05);
  Pieces small{{128, 0, 0}, {100, 0, 0}};
  EXPECT_EQ(packPieces(small, taken), 384);
}

TEST(Packing, KnowsTheLeastAroundWhatIsTaken) {
  EXPECT_EQ(leastTop(0, {{0, 64}}), 0);
  EXPECT_EQ(leastTop(128, {}), 128);
  EXPECT_EQ(leastTop(128, {{64, 192}}), 256);
  EXPECT_EQ(leastTop(64, {{64, 192}}), 64);
  EXPECT_EQ(leastTop(128, {{128, 192}, {32, 150}, {256, 300}}), 352); // 32, 64 and 32 bytes
  EXPECT_EQ(leastTop(64, {{0, 10}}), 128);                            // the next aligned byte
}

TEST(Packing, GivesTheSameOffsetsEachTime) {
  Pieces once = randomPieces(7, 80), again = once;
  EXPECT_EQ(packPieces(once), packPieces(again));
  for (size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(once[i].offset, again[i].offset);
}

TEST(Packing, OfNothingIsNothing) {
  Pieces none;
  EXPECT_EQ(packPieces(none), 0);
  EXPECT_EQ(leastBytes(none), 0);
}

// As many as are looked at in more than one order, all alive at once.
TEST(Packing, TakesTenThousand) {
  Pieces pieces;
  for (unsigned i = 0; i < 10000; ++i)
    pieces.push_back({64 * (1 + i % 7), i % 100, 200});
  EXPECT_EQ(packPieces(pieces), leastBytes(pieces));
}

} // namespace
