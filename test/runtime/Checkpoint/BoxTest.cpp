// Boxes: intersections, partitions, slabs, and copies between buffers.
#include "runtime/Checkpoint/CopyBox.h"
#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <random>

namespace hocket::checkpoint {

using program::DType;
using testing::ElementsAre;

TEST(Box, Intersections) {
  EXPECT_EQ(intersect({{0, 4}, {0, 4}}, {{2, 6}, {1, 3}}), (Box{{2, 4}, {1, 3}}));
  EXPECT_EQ(intersect({{0, 4}}, {{4, 8}}), std::nullopt);
  EXPECT_EQ(intersect({{0, 4}, {5, 5}}, {{0, 4}, {0, 9}}), std::nullopt);
  EXPECT_EQ(intersect({}, {}), Box());
  EXPECT_EQ(intersect({{0, 4}}, {{0, 4}, {0, 4}}), std::nullopt);
}

TEST(Box, PartitionsAndWhatIsWrongWithOthers) {
  std::vector<uint64_t> shape = {4, 6};
  EXPECT_EQ(partitionFault(shape, {{{0, 4}, {0, 6}}}), "");
  EXPECT_EQ(partitionFault(shape, {{{0, 2}, {0, 6}}, {{2, 4}, {3, 6}}, {{2, 4}, {0, 3}}}), "");
  EXPECT_EQ(partitionFault({}, {Box()}), "");
  EXPECT_EQ(partitionFault({}, {Box(), Box()}), "a scalar is stored 2 times");
  EXPECT_EQ(partitionFault({}, {}), "0 of 1 elements are stored");
  EXPECT_EQ(partitionFault(shape, {{{0, 4}, {0, 5}}}), "20 of 24 elements are stored");
  EXPECT_EQ(partitionFault(shape, {{{0, 5}, {0, 6}}}), "box [0, 5) x [0, 6) is no part of 4x6");
  EXPECT_EQ(partitionFault(shape, {{{0, 4}}}), "box [0, 4) is no part of 4x6");
  EXPECT_EQ(partitionFault(shape, {{{0, 3}, {0, 6}}, {{2, 4}, {0, 3}}, {{3, 4}, {3, 6}}}),
            "boxes [0, 3) x [0, 6) and [2, 4) x [0, 3) overlap");
  EXPECT_EQ(partitionFault(shape, {{{0, 4}, {0, 4}}, {{0, 4}, {3, 6}}}),
            "boxes [0, 4) x [0, 4) and [0, 4) x [3, 6) overlap");
}

// Slabs in order, put together, are the box; none is larger than asked for unless one element is.
TEST(Box, SlabsCoverABoxInOrder) {
  for (const Box &box : {Box{{2, 5}, {1, 4}, {0, 7}}, Box{{3, 4}, {0, 1}}, Box{{5, 25}}, Box{}, Box{{2, 2}, {0, 9}}})
    for (uint64_t most : {1, 2, 3, 6, 7, 8, 20, 21, 22, 1000}) {
      std::vector<uint64_t> visited;
      auto status = forEachSlab(box, most, [&](const Box &slab) -> runtime::Status {
        EXPECT_LE(volume(slab), most);
        std::vector<float> numbers(volume(slab));
        for (uint64_t i = 0; i < volume(slab); ++i) { // the index in `box` of the slab's element i
          uint64_t left = i, at = 0, stride = 1;
          for (size_t dim = box.size(); dim-- > 0; stride *= box[dim].size()) {
            at += (slab[dim].begin + left % slab[dim].size() - box[dim].begin) * stride;
            left /= slab[dim].size();
          }
          visited.push_back(at);
        }
        return {};
      });
      EXPECT_TRUE(status);
      ASSERT_EQ(visited.size(), volume(box)) << text(box) << " by " << most;
      for (uint64_t i = 0; i < visited.size(); ++i)
        EXPECT_EQ(visited[i], i) << text(box) << " by " << most;
    }
}

static uint64_t offsetIn(const View &view, const std::vector<uint64_t> &at) {
  uint64_t result = 0;
  for (size_t dim = 0; dim < at.size(); ++dim)
    result = result * view.extents[dim] + at[dim] - view.box[dim].begin;
  return result;
}

// Random boxes of random tensors against the definition, element by element; what is not copied stays.
TEST(CopyBox, AgainstTheDefinition) {
  std::mt19937 random(5);
  auto upTo = [&](uint64_t most) { return random() % (most + 1); };
  for (int round = 0; round < 400; ++round) {
    Box from, to;
    for (size_t dim = upTo(3); dim-- > 0;) {
      uint64_t a = upTo(3), b = upTo(3);
      from.push_back({a, a + 1 + upTo(4)});
      to.push_back({b, b + 1 + upTo(4)});
    }
    std::optional<Box> part = intersect(from, to);
    if (!part)
      continue;
    View source = denseView(from, DType::F32), target = denseView(to, DType::F64);
    for (uint64_t &extent : target.extents)
      extent += upTo(1); // padding
    uint64_t room = 1;
    for (uint64_t extent : target.extents)
      room *= extent;
    std::vector<float> values(volume(from));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.25f * static_cast<float>(i);
    std::vector<double> got(room, -1), want(room, -1);
    copyBox(*part, source, reinterpret_cast<std::byte *>(values.data()), target,
            reinterpret_cast<std::byte *>(got.data()));
    std::vector<uint64_t> at(part->size());
    for (uint64_t i = 0; i < volume(*part); ++i) {
      uint64_t left = i;
      for (size_t dim = at.size(); dim-- > 0; left /= (*part)[dim].size())
        at[dim] = (*part)[dim].begin + left % (*part)[dim].size();
      want[offsetIn(target, at)] = values[offsetIn(source, at)];
    }
    ASSERT_EQ(got, want) << text(from) << " to " << text(to);
  }
}

template <class To, class From> static std::vector<To> converted(std::vector<From> values, DType from, DType to) {
  std::vector<To> result(values.size());
  Box box{{0, values.size()}};
  copyBox(box, denseView(box, from), reinterpret_cast<std::byte *>(values.data()), denseView(box, to),
          reinterpret_cast<std::byte *>(result.data()));
  return result;
}

TEST(CopyBox, ConvertsToNearestEven) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // bf16 keeps 8 bits: 1 + 2^-8 lies between 1 and 1 + 2^-7 and goes to the even one; 1 + 3 * 2^-8 to 1 + 2^-6.
  EXPECT_THAT(
      converted<uint16_t>(std::vector<float>{1.0f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -infinity}, DType::F32, DType::BF16),
      ElementsAre(0x3f80, 0x3f80, 0x3f82, 0xff80));
  EXPECT_THAT(converted<uint16_t>(std::vector<float>{1.0f, 65519.0f, 65520.0f, 0x1p-24f}, DType::F32, DType::F16),
              ElementsAre(0x3c00, 0x7bff, 0x7c00, 0x0001));
  EXPECT_THAT(converted<float>(std::vector<uint16_t>{0x3f80, 0xff80}, DType::BF16, DType::F32),
              ElementsAre(1.0f, -infinity));
  EXPECT_THAT(converted<int64_t>(std::vector<int32_t>{-3, 7}, DType::I32, DType::I64), ElementsAre(-3, 7));
  EXPECT_TRUE(convertible(DType::F16, DType::F64) && convertible(DType::I32, DType::I64));
  EXPECT_FALSE(convertible(DType::I32, DType::F32) || convertible(DType::BF16, DType::I64));
}

} // namespace hocket::checkpoint
