// Types of ids, and what a file is refused for (cases K01, K02).
#include "DataTesting.h"
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
using namespace hocket::runtime;
using namespace hocket::test;
using testing::HasSubstr;

namespace {
TokenFile openFile(const TemporaryFile &file, TokenType type) {
  Result<TokenFile> opened = TokenFile::open(file.path, type);
  EXPECT_TRUE(opened);
  return std::move(*opened);
}
std::string openError(const std::string &path, TokenType type) {
  Result<TokenFile> opened = TokenFile::open(path, type);
  return opened ? "opened" : opened.error().message;
}
/// Writes a type's least, greatest and a few other numbers, and reads them back one by one and as a row.
template <class T> void expectReadsBack(TokenType type) {
  std::vector<T> numbers = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), T(100)};
  TemporaryFile file(numbers);
  TokenFile opened = openFile(file, type);
  ASSERT_EQ(opened.tokens(), numbers.size());
  std::vector<int32_t> row(numbers.size());
  opened.copy(0, row);
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(opened.token(i), static_cast<int64_t>(numbers[i])) << toString(type);
    EXPECT_EQ(row[i], static_cast<int32_t>(numbers[i])) << toString(type);
  }
}
} // namespace

TEST(TokenFile, ReadsEveryType) {
  expectReadsBack<uint8_t>(TokenType::U8);
  expectReadsBack<uint16_t>(TokenType::U16);
  expectReadsBack<uint32_t>(TokenType::U32);
  expectReadsBack<int8_t>(TokenType::I8);
  expectReadsBack<int16_t>(TokenType::I16);
  expectReadsBack<int32_t>(TokenType::I32);
  expectReadsBack<int64_t>(TokenType::I64);
}

TEST(TokenFile, K01Id36917IsNotNegative) {
  TemporaryFile words(counting<uint16_t>(40000));
  TokenFile file = openFile(words, TokenType::U16);
  std::vector<int32_t> row(1);
  file.copy(36917, row);
  EXPECT_EQ(row[0], 36917); // as int16 it would be -28619
  EXPECT_EQ(file.token(36917), 36917);
  EXPECT_EQ(openFile(words, TokenType::I16).token(36917), -28619);
}

TEST(TokenFile, K01AVocabularyThatTheTypeCannotWrite) {
  TemporaryFile file(counting<uint16_t>(8));
  TokenFile words = openFile(file, TokenType::U16), bytes = openFile(file, TokenType::U8);
  EXPECT_TRUE(words.checkVocabulary(65536));
  EXPECT_EQ(words.checkVocabulary(119547).error().message,
            "data file '" + file.path +
                "' holds u16 ids, which end at 65535: 54011 ids of the vocabulary of 119547 cannot be written in it, "
                "expected a vocabulary of at most 65536 or ids of a wider type");
  EXPECT_THAT(words.checkVocabulary(65537).error().message, HasSubstr(": 1 ids of the vocabulary of 65537"));
  EXPECT_TRUE(bytes.checkVocabulary(50257)); // text is no tokenizer's mistake
  EXPECT_THAT(openFile(file, TokenType::I16).checkVocabulary(50257).error().message,
              HasSubstr("holds i16 ids, which end at 32767: 17489 ids"));
  EXPECT_TRUE(openFile(file, TokenType::I32).checkVocabulary(INT32_MAX));
  EXPECT_TRUE(openFile(file, TokenType::I64).checkVocabulary(INT64_MAX));
}

TEST(TokenFile, FaultsSayWhatWasFound) {
  EXPECT_EQ(openError("/nowhere/tokens", TokenType::U8),
            "cannot open data file '/nowhere/tokens': No such file or directory");
  TemporaryFile odd(counting<uint8_t>(7));
  EXPECT_THAT(openError(odd.path, TokenType::U16), HasSubstr("has 7 bytes, expected a multiple of 2 for u16 tokens"));
  EXPECT_THAT(openError(testing::TempDir(), TokenType::U8), HasSubstr("is not a regular file"));
  std::string pipe = testing::TempDir() + "hocket-data-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(openError(pipe, TokenType::U8), "data file '" + pipe + "' is not a regular file");
  std::remove(pipe.c_str());
}

TEST(TokenFile, NamesTheOffsetOfABadId) {
  std::vector<uint16_t> tokens(10000, 3);
  tokens[5001] = 256;
  TemporaryFile file(tokens);
  TokenFile opened = openFile(file, TokenType::U16);
  EXPECT_TRUE(opened.checkIds(0, 5001, 256));
  EXPECT_THAT(opened.checkIds(0, 10000, 256).error().message,
              HasSubstr("holds token id 256 at byte offset 10002, expected ids below the vocabulary size 256"));
  EXPECT_TRUE(opened.checkIds(0, 10000, 257));
  EXPECT_TRUE(opened.checkIds(0, 10000, 65536));
}

TEST(TokenFile, NamesTheOffsetOfANegativeId) {
  std::vector<int32_t> tokens(5000, 3);
  tokens[4097] = -1;
  TemporaryFile file(tokens);
  EXPECT_THAT(openFile(file, TokenType::I32).checkIds(0, 5000, 50257).error().message,
              HasSubstr("holds token id -1 at byte offset 16388, expected ids from 0 on and below the vocabulary size "
                        "50257"));
  EXPECT_TRUE(openFile(file, TokenType::I32).checkIds(0, 4097, 50257));
  TemporaryFile small(std::vector<int8_t>{5, -128, 3});
  EXPECT_THAT(openFile(small, TokenType::I8).checkIds(0, 3, 128).error().message, HasSubstr("token id -128 at byte "
                                                                                            "offset 1"));
  TemporaryFile wide(std::vector<int64_t>{5, INT64_MIN, int64_t(1) << 40});
  EXPECT_THAT(openFile(wide, TokenType::I64).checkIds(2, 3, 128).error().message,
              HasSubstr("token id 1099511627776 at byte offset 16, expected ids below"));
  EXPECT_FALSE(openFile(wide, TokenType::I64).checkIds(0, 2, 128));
}
