// Pieces of dimensions, and groups of ranks.
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Dist/RankGroups.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket::dist;
using hocket::interpreter::RankGrid;
using ::testing::ElementsAre;

namespace {
mlir::MLIRContext context;
AxisRef axis(llvm::StringRef name, int64_t pre = 1, int64_t size = 0) {
  return {mlir::StringAttr::get(&context, name), pre, size};
}
std::vector<int64_t> sizes(const RankGrid &grid, int64_t n, llvm::ArrayRef<AxisRef> axes) {
  std::vector<int64_t> list;
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    Piece piece = pieceOf(grid, rank, n, axes);
    list.push_back(piece.end - piece.begin);
  }
  return list;
}
} // namespace

// The rows of case D17: shards may be short, and empty.
TEST(Pieces, UnevenDimensions) {
  RankGrid grid{{{"x", 4}}};
  EXPECT_THAT(sizes(grid, 10, axis("x")), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(sizes(grid, 5, axis("x")), ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(sizes(grid, 3, axis("x")), ElementsAre(1, 1, 1, 0));
}
TEST(Pieces, AxesCutOneAfterAnother) {
  RankGrid grid{{{"a", 2}, {"b", 2}}};
  AxisRef both[] = {axis("a"), axis("b")};
  EXPECT_THAT(sizes(grid, 10, both), ElementsAre(3, 2, 3, 2)); // 5 5, then 3 2 of each
  Piece piece = pieceOf(grid, 1, 10, both);
  EXPECT_EQ(piece.begin, 3);
  EXPECT_EQ(piece.size, 3);
}
TEST(Pieces, AnAxisOfOneDeviceIsNone) {
  RankGrid grid{{{"x", 1}}};
  EXPECT_THAT(sizes(grid, 5, axis("x")), ElementsAre(5));
}
TEST(Groups, OfAxesAndSubAxes) {
  RankGrid grid{{{"dp", 2}, {"tp", 4}}};
  EXPECT_THAT(groupOf(grid, 6, axis("tp")), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(groupOf(grid, 6, axis("tp", 1, 2)), ElementsAre(4, 6));
  EXPECT_THAT(groupOf(grid, 6, axis("tp", 2, 2)), ElementsAre(6, 7));
  AxisRef minorFirst[] = {axis("tp", 2, 2), axis("dp")};
  EXPECT_THAT(groupOf(grid, 6, minorFirst), ElementsAre(2, 6, 3, 7));
}
