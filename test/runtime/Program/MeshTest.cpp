// Mesh arithmetic: ranks, groups, sub-axes, shards.
#include "runtime/Program/Mesh.h"
#include <gmock/gmock.h>

using namespace hocket::program;
using testing::ElementsAre;

namespace {
AxisRef whole(const Mesh &mesh, uint32_t axis) { return AxisRef(axis, 1, mesh.axes()[axis].size); }

std::vector<uint64_t> sizes(const Mesh &mesh, uint64_t n, std::vector<AxisRef> axes) {
  std::vector<uint64_t> result;
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
    result.push_back(shard(mesh, rank, n, axes).size());
  return result;
}
} // namespace

// Case P12: Megatron's grid of 16 ranks, tp 2, pp 4, is <pp, dp, tp>.
TEST(Mesh, RankGridIsMegatrons) {
  Mesh mesh({{"pp", 4}, {"dp", 2}, {"tp", 2}});
  EXPECT_EQ(mesh.worldSize(), 16u);
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_THAT(mesh.group(2 * i, std::vector{whole(mesh, 2)}), ElementsAre(2 * i, 2 * i + 1));
  std::vector<std::vector<uint32_t>> dp = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}};
  std::vector<std::vector<uint32_t>> pp = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}};
  for (const auto &[groups, axis] : {std::pair(dp, 1u), std::pair(pp, 0u)})
    for (const std::vector<uint32_t> &group : groups)
      for (uint32_t member : group)
        EXPECT_EQ(mesh.group(member, std::vector{whole(mesh, axis)}), group);
}

TEST(Mesh, CoordinatesThereAndBack) {
  Mesh mesh({{"pp", 3}, {"dp", 1}, {"tp", 4}});
  for (uint32_t rank = 0; rank < 12; ++rank)
    EXPECT_EQ(mesh.rank(mesh.coordinates(rank)), rank);
  EXPECT_THAT(mesh.coordinates(7), ElementsAre(1, 0, 3));
  EXPECT_EQ(mesh.text(7), "pp=1 dp=0 tp=3");
  EXPECT_EQ(mesh.sizesText(), "pp=3, dp=1, tp=4");
}

TEST(Mesh, SubAxes) {
  Mesh mesh({{"dp", 2}, {"tp", 8}});
  uint32_t rank = 8 + 5; // dp 1, tp 5 = binary 101
  EXPECT_EQ(mesh.coordinate(rank, AxisRef(1, 1, 2)), 1u);
  EXPECT_EQ(mesh.coordinate(rank, AxisRef(1, 2, 2)), 0u);
  EXPECT_EQ(mesh.coordinate(rank, AxisRef(1, 4, 2)), 1u);
  EXPECT_EQ(mesh.coordinate(rank, AxisRef(1, 1, 4)), 2u);
  EXPECT_EQ(mesh.coordinate(rank, AxisRef(1, 2, 4)), 1u);
  EXPECT_THAT(mesh.group(rank, std::vector{AxisRef(1, 1, 4)}), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(mesh.group(rank, std::vector{AxisRef(1, 4, 2)}), ElementsAre(12, 13));
  EXPECT_THAT(mesh.group(rank, std::vector{AxisRef(1, 2, 2), AxisRef(0, 1, 2)}), ElementsAre(5, 13, 7, 15));
  EXPECT_THAT(mesh.group(rank, {}), ElementsAre(13));
}

TEST(Mesh, PositionIsThePlaceInTheGroup) {
  Mesh mesh({{"a", 3}, {"b", 4}, {"c", 2}});
  for (const std::vector<AxisRef> &axes :
       {std::vector{AxisRef(0, 1, 3), AxisRef(2, 1, 2)}, std::vector{AxisRef(1, 2, 2), AxisRef(0, 1, 3)}})
    for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
      EXPECT_EQ(mesh.group(rank, axes)[mesh.position(rank, axes)], rank);
}

TEST(Shard, OneAxis) {
  Mesh mesh({{"tp", 4}});
  EXPECT_THAT(sizes(mesh, 10, {whole(mesh, 0)}), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(sizes(mesh, 5, {whole(mesh, 0)}), ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(sizes(mesh, 1, {whole(mesh, 0)}), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(sizes(mesh, 7, {}), ElementsAre(7, 7, 7, 7));
  EXPECT_EQ(paddedExtent(10, std::vector{whole(mesh, 0)}), 3u);
  EXPECT_EQ(paddedExtent(5, std::vector{whole(mesh, 0)}), 2u);
  EXPECT_EQ(shard(mesh, 3, 5, std::vector{whole(mesh, 0)}), (Range{5, 5}));
}

TEST(Shard, LaterAxesCutThePaddedPiece) {
  Mesh mesh({{"a", 2}, {"b", 2}});
  std::vector axes{whole(mesh, 0), whole(mesh, 1)};
  std::vector<Range> ranges;
  for (uint32_t rank = 0; rank < 4; ++rank)
    ranges.push_back(shard(mesh, rank, 5, axes));
  EXPECT_THAT(ranges, ElementsAre(Range{0, 2}, Range{2, 3}, Range{3, 5}, Range{5, 5}));
  EXPECT_EQ(paddedExtent(5, axes), 2u);
}

// Whatever is split over whatever: the shards are disjoint, in order of position, no longer than the padded extent, and
// together the whole.
TEST(Shard, CoversEveryElementOnce) {
  Mesh mesh({{"a", 2}, {"b", 6}, {"c", 2}});
  for (const std::vector<AxisRef> &axes :
       {std::vector{AxisRef(0, 1, 2)}, std::vector{AxisRef(1, 1, 6), AxisRef(0, 1, 2)},
        std::vector{AxisRef(1, 2, 3), AxisRef(2, 1, 2), AxisRef(1, 1, 2)}})
    for (uint64_t n = 1; n <= 40; ++n) {
      uint64_t covered = 0;
      for (uint32_t member : mesh.group(0, axes)) {
        Range range = shard(mesh, member, n, axes);
        EXPECT_EQ(range.begin, covered);
        EXPECT_LE(range.size(), paddedExtent(n, axes));
        covered = range.end;
      }
      EXPECT_EQ(covered, n);
    }
}
