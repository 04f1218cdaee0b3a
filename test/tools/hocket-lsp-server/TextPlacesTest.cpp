// Places of the protocol and of the compiler, in texts that are not ASCII.
#include "tools/hocket-lsp-server/TextPlaces.h"
#include <gtest/gtest.h>
using namespace hocket::lsp;

namespace {
TEST(TextPlaces, CountsUtf16Units) {
  // é is 2 bytes and 1 unit, 𝄞 is 4 bytes and 2 units.
  TextPlaces places("ab\n\"é𝄞\" %x\n");
  EXPECT_EQ(places.offset({1, 0}), 3u);
  EXPECT_EQ(places.offset({1, 2}), 6u);  // behind é
  EXPECT_EQ(places.offset({1, 4}), 10u); // behind 𝄞
  EXPECT_EQ(places.position(12), Position(1, 6));
  for (size_t offset : {0, 1, 2, 3, 4, 6, 10, 11, 12, 13, 14, 15})
    EXPECT_EQ(places.offset(places.position(offset)), offset);
}

TEST(TextPlaces, TakesPlacesBeyondTheEndAsTheEnd) {
  TextPlaces places("ab\ncd");
  EXPECT_EQ(places.offset({0, 99}), 2u);
  EXPECT_EQ(places.offset({1, 99}), 5u);
  EXPECT_EQ(places.offset({7, 0}), 5u);
  EXPECT_EQ(places.offset({-1, 0}), 0u);
  EXPECT_EQ(places.position(99), Position(1, 2));
  EXPECT_EQ(TextPlaces("").position(3), Position(0, 0));
}

TEST(TextPlaces, FindsTheWordOfACompilersColumn) {
  TextPlaces places("x\n\"é\" linear %y");
  EXPECT_EQ(places.wordAt(2, 6), Range(Position(1, 4), Position(1, 10))); // byte column 6 is unit 4
  EXPECT_EQ(places.wordAt(2, 13), Range(Position(1, 11), Position(1, 13)));
  EXPECT_EQ(places.wordAt(9, 1), Range());
  EXPECT_EQ(places.wordAt(0, 0), Range());
}
} // namespace
