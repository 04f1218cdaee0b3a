// Who owns what: every element once, whatever the mesh; and what a file holds in which order.
#include "SavedProgram.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace hocket::checkpoint {

using program::StateKind;
using testing::ElementsAre;

static std::vector<std::string> ownersOf(const Index &layout, const std::string &key) {
  std::vector<std::string> result;
  for (const Tensor &tensor : layout.tensors)
    for (const Piece &piece : tensor.pieces)
      if (tensor.key() == key)
        result.push_back(fmt::format("{}: {}", layout.files[piece.file].rank, text(piece.box)));
  return result;
}

TEST(Layout, OwnersHaveCoordinateZeroAlongOtherAxes) {
  SavedProgram program({{"pp", 2}, {"dp", 2}, {"tp", 2}},
                       {{"wte", {6, 4}, {"tp"}, StateKind::Parameter, program::DType::F32, {1, 0}},
                        {"wte", {6, 4}, {"tp dp"}, StateKind::FirstMoment, program::DType::F32, {1, 0}},
                        {"norm", {4}},
                        {"scale", {}, {}, StateKind::Scalar, program::DType::F32, {0, 1}}});
  Index layout = layoutOf(program.get());
  // wte is on both stages and belongs to stage 1, ranks 4 to 7.
  EXPECT_THAT(ownersOf(layout, "parameter/wte"), ElementsAre("4: [0, 3) x [0, 4)", "5: [3, 6) x [0, 4)"));
  // 6 rows over tp then dp: 3 each, then 2 and 1.
  EXPECT_THAT(ownersOf(layout, "first_moment/wte"),
              ElementsAre("4: [0, 2) x [0, 4)", "6: [2, 3) x [0, 4)", "5: [3, 5) x [0, 4)", "7: [5, 6) x [0, 4)"));
  EXPECT_THAT(ownersOf(layout, "parameter/norm"), ElementsAre("0: [0, 4)"));
  EXPECT_THAT(ownersOf(layout, "scalar/scale"), ElementsAre("0: scalar"));
  EXPECT_EQ(layout.files.size(), 5u); // ranks 1, 2 and 3 own nothing
}

TEST(Layout, EmptyShardsAreNotSaved) {
  SavedProgram program({{"tp", 4}}, {{"bias", {5}, {"tp"}}});
  EXPECT_THAT(ownersOf(layoutOf(program.get()), "parameter/bias"),
              ElementsAre("0: [0, 2)", "1: [2, 4)", "2: [4, 5)")); // nothing of rank 3
}

// Every mesh and split of a grid: pieces make up the tensor exactly, without padding.
TEST(Layout, EveryElementOnce) {
  for (uint32_t pp : {1, 2})
    for (uint32_t dp : {1, 2, 3})
      for (uint32_t tp : {1, 2, 4})
        for (const char *rows : {"", "tp", "dp", "tp dp", "dp tp"})
          for (const char *columns : {"", "tp"}) {
            if (*columns && std::string(rows).find("tp") != std::string::npos)
              continue;
            SavedProgram program({{"pp", pp}, {"dp", dp}, {"tp", tp}},
                                 {{"w", {7, 5}, {rows, columns}, StateKind::Master}});
            Index layout = layoutOf(program.get());
            std::vector<Box> boxes;
            for (const Piece &piece : layout.tensors[0].pieces)
              boxes.push_back(piece.box);
            EXPECT_EQ(partitionFault(layout.tensors[0].shape, boxes), "") << pp << dp << tp << rows << "," << columns;
          }
}

TEST(Layout, LargerElementsComeFirstInAFile) {
  SavedProgram program({{"tp", 1}}, {{"half", {3}, {}, StateKind::Parameter, program::DType::BF16},
                                     {"half", {3}, {}, StateKind::Master},
                                     {"updates", {}, {}, StateKind::Scalar, program::DType::I64}});
  Index layout = layoutOf(program.get());
  std::vector<std::string> keys;
  for (const Part &part : partsOf(layout, 0))
    keys.push_back(layout.tensors[part.tensor].key());
  EXPECT_THAT(keys, ElementsAre("scalar/updates", "master/half", "parameter/half"));
  EXPECT_EQ(dataBytes(layout), 8u + 12u + 6u);
}

} // namespace hocket::checkpoint
